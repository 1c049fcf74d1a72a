"""The paper's own algorithm, to be read beside it: Algorithms 1 to 3 with their errors corrected.

The letters are the paper's; its X (features by samples) is `A.T` here. These are corrected: the test for a change of
sign in Algorithm 2 (opposite signs, not merely different ones, or every weight would stay at zero), the step for e in
Algorithm 3 (the exact one, twice the printed), alpha and beta (current at every coordinate, not from the start of the
sweep), and I and J (nonzero coordinates are visited too, not only those that violate their bound).
"""

import numpy as np

from ._certified import Algorithm, Point

__all__ = ["Greedy"]

_MAX_SWEEPS = 1000


class Greedy(Algorithm):
    """Algorithm 1: converge over w, then over e, then check again which coordinates violate their bounds."""

    def improve(self, at: Point) -> tuple[np.ndarray, np.ndarray] | None:
        design, mu, gamma = self.problem.design, self.problem.mu, self.problem.gamma
        small = 1e-4 * self.tolerance
        z, r = at.z.copy(), at.r.copy()  # r = K e - X'w
        w, e = design.split(z)  # e without its anchor, since the column of the anchor is y

        if mu > 0:
            alpha = 2 * design.split(at.correlations)[0] + mu  # 2 X K e - 2 X X'w + mu
            I = np.flatnonzero((alpha < 0) | (alpha > 2 * mu) | (w != 0))
            converge_over_w(design.w_view.columns(I), I, w, r, mu, small)

        if design.n_e:
            beta = 2 * design.e_view.rmatvec(r) + gamma  # 2 K^2 e - 2 K X'w + gamma
            design.n_passes += 1
            J = np.flatnonzero((beta < 0) | (e > 0))
            J = np.setdiff1d(J, [design.anchor])
            converge_over_e(design.e_view.columns(J), J, e, r, gamma, small)
        return z, design.residual(z)


def converge_over_w(A_I: np.ndarray, I: np.ndarray, w: np.ndarray, r: np.ndarray, mu: float, small: float) -> None:
    """Algorithm 2, in place. `A_I` are the columns of A = X' for the coordinates I, r = K e - X'w."""
    XX = np.einsum("ij,ij->j", A_I, A_I)  # the diagonal of X X'
    for _ in range(_MAX_SWEEPS):
        largest = 0.0
        for position, i in enumerate(I):
            if XX[position] == 0:  # a feature of zeros explains nothing
                w[i] = 0.0
                continue
            x = A_I[:, position]
            alpha = 2 * (x @ r) + mu
            if alpha > 2 * mu:
                w_hat = w[i] + (alpha - 2 * mu) / (2 * XX[position])
            elif alpha < 0:
                w_hat = w[i] + alpha / (2 * XX[position])
            elif w[i] > 0:
                w_hat = w[i] - (2 * mu - alpha) / (2 * XX[position])
            elif w[i] < 0:
                w_hat = w[i] + alpha / (2 * XX[position])
            else:
                continue
            if w[i] * w_hat < 0:  # stop at zero before changing sign
                w_hat = 0.0
            r -= (w_hat - w[i]) * x
            largest = max(largest, (w_hat - w[i]) ** 2 * XX[position])
            w[i] = w_hat
        if largest <= small:
            return


def converge_over_e(K_J: np.ndarray, J: np.ndarray, e: np.ndarray, r: np.ndarray, gamma: float, small: float) -> None:
    """Algorithm 3, in place. `K_J` are the columns of K for the coordinates J, r = K e - X'w."""
    KK = np.einsum("ij,ij->j", K_J, K_J)  # the diagonal of K^2
    for _ in range(_MAX_SWEEPS):
        largest = 0.0
        for position, i in enumerate(J):
            if KK[position] == 0:  # a column of zeros explains nothing
                e[i] = 0.0
                continue
            kappa = K_J[:, position]
            e_hat = e[i] - (2 * (kappa @ r) + gamma) / (2 * KK[position])
            e_hat = min(max(e_hat, 0.0), 1.0)
            r += (e_hat - e[i]) * kappa
            largest = max(largest, (e_hat - e[i]) ** 2 * KK[position])
            e[i] = e_hat
        if largest <= small:
            return
