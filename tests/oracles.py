"""Independent computations, in plain dense NumPy or by other solvers, that the tests hold the package against."""

import cvxpy as cp
import numpy as np


def objective(X, K, w, e, k, mu, gamma):
    others = np.delete(e, k)
    return np.sum((X @ w - K @ e) ** 2) + mu * np.abs(w).sum() + gamma * others.sum()


def dual_bound(X, K, w, e, k, mu, gamma):
    """D(v) at v = 2 r scaled into |X'v| <= mu, straight from the formula."""
    r = K @ e - X @ w
    v = 2 * r * min(1.0, mu / np.abs(2 * X.T @ r).max())
    assert np.abs(X.T @ v).max() <= mu * (1 + 1e-12)
    return v @ K[:, k] - v @ v / 4 + np.minimum(0.0, gamma + np.delete(K.T @ v, k)).sum()


def lasso_dual_bound(X, y, w, mu):
    r = y - X @ w
    v = 2 * r * min(1.0, mu / np.abs(2 * X.T @ r).max())
    return v @ y - v @ v / 4


def kkt_violation(X, K, w, e, k, mu, gamma):
    """The largest violation of the optimality conditions of w and e."""
    r = K @ e - X @ w
    pull = 2 * X.T @ r
    at_zero = np.maximum(np.abs(pull) - mu, 0)[w == 0]
    active = np.abs(pull - mu * np.sign(w))[w != 0]
    beta = 2 * K.T @ r + gamma
    inside = (e > 0) & (e < 1)
    inside[k] = False
    lower, upper = e == 0, e == 1
    upper[k] = False
    parts = [at_zero, active, np.maximum(-beta[lower], 0), np.abs(beta[inside]), np.maximum(beta[upper], 0)]
    return max(part.max(initial=0) for part in parts)


def clarabel_optimum(X, K, k, mu, gamma, *, fit_dual=True):
    """The optimal value by an interior point method that knows nothing of ours."""
    n, m = X.shape
    w, e = cp.Variable(m), cp.Variable(n)
    held = [e[k] == 1, e >= 0, e <= 1]
    if not fit_dual:
        held += [e[i] == 0 for i in range(n) if i != k]
    penalty = mu * cp.norm1(w) + gamma * (cp.sum(e) - 1)
    problem = cp.Problem(cp.Minimize(cp.sum_squares(X @ w - K @ e) + penalty), held)
    problem.solve(solver=cp.CLARABEL, tol_gap_abs=1e-10, tol_gap_rel=1e-10, tol_feas=1e-10)
    return problem.value


def prepare(X, center=True, normalize=True):
    """Centred and scaled samples, dense."""
    X = np.asarray(X, dtype=float)
    if center:
        X = X - X.mean(axis=0)
    if normalize:
        norms = np.linalg.norm(X, axis=1, keepdims=True)
        X = X / np.where(norms > 1e-12, norms, 1)
    return X


def prepare_kernel(K, center=True, normalize=True):
    """The kernel matrix of centred and scaled samples, dense."""
    n = len(K)
    if center:
        H = np.eye(n) - 1 / n
        K = H @ K @ H
    if normalize:
        d = np.sqrt(np.diag(K))
        K = K / np.outer(d, d)
    return K


def deflate_features(X, w):
    """Algorithm 4 as printed (mended, samples as rows): p = X'X u / u'X'X u with u = X'X w, and X (I - u p')."""
    u = X.T @ (X @ w)
    p = X.T @ (X @ u) / (u @ X.T @ X @ u)
    return X - np.outer(X @ u, p)


def deflate_kernel(K, e):
    tau = K @ (K @ e)
    P = np.eye(len(K)) - np.outer(tau, tau) / (tau @ tau)
    return P @ K @ P


def automatic(X, K, k):
    """The paper's mu and gamma."""
    y = K[:, k]
    return np.abs(2 * X.T @ y).mean(), np.abs(2 * K @ y).mean()
