"""What is compared: the one place to add settings of sparse CCA, or a peer."""

from scca import PAPER

__all__ = ["PLANTED_PEERS", "SPARSE_CCA", "TEXT_PEERS"]

# keyword arguments of SparseCCA, by the name they have on the page
SPARSE_CCA: dict[str, dict] = {
    "scca, the paper's settings": PAPER,
    "scca, defaults": {},
    "scca, defaults without feature weights": {"feature_weights": None},
    "scca, paper with anchors by cross-energy": PAPER | {"anchors": "cross-energy"},
    "scca, paper with shared directions": PAPER | {"directions": "shared"},
    "scca, primal-primal": {"representation": "primal-primal"},
    "scca, primal-primal, mu and gamma doubled": {
        "representation": "primal-primal",
        "mu": "auto*2",
        "gamma": "auto*2",
    },
}

# classes of cca_zoo.sparse and their keyword arguments: what suits planted factors of 10 features, and the defaults
PLANTED_PEERS: dict[str, tuple[str, dict]] = {
    "PMDCCA(l1_bound=0.08)": ("PMDCCA", {"l1_bound": 0.08}),
    "SpanCCA(span=10)": ("SpanCCA", {"span": 10}),
    "ParkhomenkoCCA(alpha=0.5)": ("ParkhomenkoCCA", {"alpha": 0.5}),
    "IPLSCCA(alpha=0.3)": ("IPLSCCA", {"alpha": 0.3}),
    **{f"{name}()": (name, {}) for name in ("PMDCCA", "SpanCCA", "ParkhomenkoCCA", "IPLSCCA")},
}

# the same on text, from few words a component to many
TEXT_PEERS: dict[str, list[dict]] = {
    "PMDCCA": [{"l1_bound": bound} for bound in (0.03, 0.06)],
    "SpanCCA": [{"span": span} for span in (3, 10)],
    "ParkhomenkoCCA": [{"alpha": alpha} for alpha in (0.4, 0.6)],
    "IPLSCCA": [{"alpha": alpha} for alpha in (0.003, 0.01)],
}
