"""Writes one model file of every kind by the version before the rebuild, with scores that they must keep giving."""
import sys, warnings
from pathlib import Path
import numpy as np, scipy.sparse as sp
import scca
from scca.datasets import load_trilingual, make_planted
from scca.text import BilingualModel, PairedText
warnings.simplefilter("ignore")
out = Path(sys.argv[1]); out.mkdir(parents=True, exist_ok=True)
X, Y = make_planted(46, 12, 10, n_factors=2, n_active=4, random_state=0).views
Xn, Yn, X, Y = X[40:], Y[40:], X[:40], Y[:40]

K = (Y - Y.mean(0)) @ (Y - Y.mean(0)).T
Kn = (Yn - Y.mean(0)) @ (Y - Y.mean(0)).T
S = sp.csr_array(np.where(np.abs(X) > 1, np.abs(X), 0.0))
rbf = {"gamma": 0.05}
models = {
  "factors": scca.SparseCCA(2).fit(X, Y),
  "factors-dense": scca.SparseCCA(2, rendering=("dense", "sparse")).fit(X.astype(np.float32), Y.astype(np.float32)),
  "factors-kernel": scca.SparseCCA(2, kernel="rbf", kernel_params=rbf).fit(X, Y),
  "factors-low-rank": scca.SparseCCA(2, kernel=scca.LowRankKernel("rbf", rank=20), kernel_params=rbf, representation="dual-dual").fit(X, Y),
  "anchored": scca.SparseCCA(3, **scca.PAPER).fit(X, Y),
  "anchored-kernel": scca.SparseCCA(2, **{**scca.PAPER, "kernel": "rbf"}, kernel_params=rbf).fit(X, Y),
  "anchored-precomputed": scca.SparseCCA(2, **{**scca.PAPER, "kernel": "precomputed"}).fit(X, K),
  "anchored-primal-primal": scca.SparseCCA(2, **{**scca.PAPER, "representation": "primal-primal", "anchors": "cross-energy"}).fit(X, Y),
  "anchored-low-rank": scca.SparseCCA(2, **{**scca.PAPER, "kernel": scca.LowRankKernel("rbf", rank=20)}, kernel_params=rbf).fit(X, Y),
  "factors-cv": scca.SparseCCACV(2, mu_factors=(0.5, 1), ridge_factors=(1, 4), cv=3).fit(X, Y),
  "anchored-cv": scca.SparseCCACV(2, anchors="sequential", feature_weights=None, held_out=0, mu_factors=(0.5, 1), cv=3).fit(X, Y),
  "kernel-cca": scca.KernelCCA(2).fit(X, Y),
  "kernel-cca-rbf": scca.KernelCCA(2, kernel="rbf", kernel_params=rbf).fit(X, Y),
  "kernel-cca-low-rank": scca.KernelCCA(2, kernel=scca.LowRankKernel("rbf", rank=20), kernel_params=rbf).fit(X, Y),
}
scores = {"X": Xn, "Y": Yn, "K": Kn}
for name, model in models.items():
    scca.save(model, out / f"{name}.scca")
    y = Kn if name == "anchored-precomputed" else Yn
    scores[f"{name}/x"] = np.asarray(model.transform(Xn)); scores[f"{name}/y"] = np.asarray(model.transform_y(y))
corpus = load_trilingual()
rows = np.arange(0, len(corpus.en), 4)
en, fr = [[side[i] for i in rows] for side in (corpus.en, corpus.fr)]
queries = [corpus.en[i] for i in (1, 2, 3)], [corpus.fr[i] for i in (1, 2, 3)]
for name, model in {"bilingual": BilingualModel(3), "bilingual-paper": BilingualModel(3, anchors="sequential", feature_weights=None)}.items():
    model.fit(PairedText.of(en, fr, ("en", "fr")))
    scca.save(model, out / f"{name}.scca")
    scores[f"{name}/x"] = model.project(queries[0], "en"); scores[f"{name}/y"] = model.project(queries[1], "fr")
    g = model.generate(queries[0][:1], source="en")[0]
    scores[f"{name}/generated"] = np.array([w.weight for w in g.words][:10])
np.savez_compressed(out / "scores.npz", **scores)
