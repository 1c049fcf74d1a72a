"""The main job on generated text: learn from pairs, find the mates of new documents, read what was learnt."""

import warnings

import numpy as np
from sklearn.feature_extraction.text import TfidfTransformer

import scca

N_TRAIN, N_COMPONENTS = 100, 60


def main() -> None:
    made = scca.datasets.make_bilingual(400, vocabulary=3000, n_topics=30, random_state=0)
    X, Y = (TfidfTransformer(norm=None).fit_transform(view) for view in made.views)
    print(f"{X.shape[0]} documents in two languages of {X.shape[1]} words, {N_TRAIN} of them to learn from\n")

    warnings.simplefilter("ignore", scca.DataWarning)  # words that none of the training documents has
    model = scca.SparseCCA(N_COMPONENTS).fit(X[:N_TRAIN], Y[:N_TRAIN])
    baseline = scca.KernelCCA(N_COMPONENTS).fit(X[:N_TRAIN], Y[:N_TRAIN])

    print("component  anchor  words  documents  correlation  duality gap  strongest words")
    for j in range(5):
        weights = model.x_weights_[:, j]
        strongest = np.argsort(-np.abs(weights))[:5]
        print(
            f"{j:9}  {model.anchors_[j]:6}  {np.count_nonzero(weights):5}  "
            f"{np.count_nonzero(model.y_weights_[:, j]):9}  {model.correlations_[j]:11.3f}  "
            f"{max(0.0, model.dual_gap_[j]):11.1e}  {' '.join(made.x_words[strongest])}"
        )

    words = np.count_nonzero(model.x_weights_.any(axis=1))
    new = X[N_TRAIN:], Y[N_TRAIN:]
    print(f"\nFinding the mates of the {new[0].shape[0]} other documents (average precision, 1 is perfect):")
    print(f"  sparse CCA, {words} words   {model.score(*new):.3f}")
    print(f"  kernel CCA, all words   {baseline.score(*new):.3f}")


if __name__ == "__main__":
    main()
