"""Independent computations, in plain dense NumPy or by other solvers, that the tests hold the package against."""

from collections import deque
from dataclasses import dataclass

import cvxpy as cp
import numpy as np
from scipy.linalg import block_diag, eigh


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
    doubled = 2 * X.T @ r
    at_zero = np.maximum(np.abs(doubled) - mu, 0)[w == 0]
    active = np.abs(doubled - mu * np.sign(w))[w != 0]
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


def prepare(X, center=True, scale="rows"):
    """Centred and scaled samples, dense."""
    X = np.asarray(X, dtype=float)
    spread = X.std(axis=0)
    if center:
        X = X - X.mean(axis=0)
    if scale in ("columns", "both"):
        X = np.where(spread > 0, X, 0) / np.where(spread > 0, spread, 1)
    if scale == "rows":
        norms = np.linalg.norm(X, axis=1, keepdims=True)
        X = X / np.where(norms > 1e-12, norms, 1)
    if scale == "both":
        b, size = shrinkage(X)
        X = X / np.sqrt(b * size + (1 - b) * np.sum(X**2, axis=1, keepdims=True))
    return X


def shrinkage(X):
    """b and s^2 of the shrunken norm, by its definition over pairs of different samples."""
    q = np.sum(X**2, axis=1)
    others = ~np.eye(len(X), dtype=bool)
    one_of_m = np.mean((X @ X.T)[others] ** 2) / np.mean(np.outer(q, q)[others])
    by_chance = 2 * one_of_m / (q.var() / q.mean() ** 2) if q.var() > 0 else np.inf
    return min(1, max(one_of_m, by_chance)), q.mean()


def prepare_kernel(K, center=True, scale="rows"):
    """The kernel matrix of centred and scaled samples, dense."""
    n = len(K)
    if center:
        H = np.eye(n) - 1 / n
        K = H @ K @ H
    if scale == "rows":
        d = np.sqrt(np.diag(K))
        K = K / np.outer(d, d)
    return K


def shared_problem(matrices, ridges, n_components):
    """sum over u != v of C_vu w_u = sigma (C_vv + lambda_v) w_v, as one generalised symmetric eigenproblem."""
    everything = np.hstack(matrices)
    right = block_diag(*(A.T @ A for A in matrices))
    left = everything.T @ everything - right
    right += np.diag(np.concatenate([np.full(A.shape[1], ridge) for A, ridge in zip(matrices, ridges, strict=True)]))
    values, W = eigh(left, right)
    order = np.argsort(-values)[:n_components]
    return values[order], everything @ W[:, order]


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


def anchored_optimum(X, K, k, mu, gamma, *, accuracy=1e-11, max_steps=1_000_000):
    """w and e of min ||X w - K e||^2 + mu ||w||_1 + gamma sum_{i != k} e_i, 0 <= e <= 1, e_k = 1, to rounding error.

    Exact coordinate steps, always along the coordinate that gains most, find which coordinates lie on a bound; the
    others then follow from linear equations. The answer is taken only if no optimality condition is broken by more than
    `accuracy` times the larger penalty.
    """
    n, m = X.shape
    M, y = np.hstack([X, -K]), K[:, k]
    penalties = np.repeat([mu, gamma], [m, n])
    lower, upper = np.repeat([-np.inf, 0.0], [m, n]), np.repeat([np.inf, 1.0], [m, n])
    upper[m + k] = 0.0  # its column is y
    gram = M.T @ M
    curvature = np.maximum(np.diag(gram), 1e-300)  # a column of zeros has no correlation either
    z, correlations = np.zeros(m + n), M.T @ y
    for step in range(max_steps):
        if step % 100 == 0:
            answer = _on_its_face(M, y, z, penalties, upper)
            w, e = answer[:m], answer[m:]
            inside = (e >= 0).all() and (e <= 1).all()
            e[k] = 1.0
            if inside and kkt_violation(X, K, w, e, k, mu, gamma) <= accuracy * max(mu, gamma):
                return w, e
            correlations = M.T @ (y - M @ z)
        at = z + correlations / curvature
        moved = np.sign(at) * np.maximum(np.abs(at) - penalties / 2 / curvature, 0)
        moved = np.clip(moved, lower, upper) - z
        i = np.argmax(moved**2 * curvature)
        z[i] += moved[i]
        correlations -= moved[i] * gram[:, i]
    raise AssertionError(f"no optimum after {max_steps} steps")


def _on_its_face(M, y, z, penalties, upper):
    """The minimum over the coordinates of z that lie on no bound, with their signs held and the others where they are.

    2 M_F'(y - M z) = penalties_F sign(z_F), solved in the orthonormal coordinates of M_F, not through M_F'M_F.
    """
    free = (z != 0) & (z < upper)
    answer = z.copy()
    if free.any():
        rest = y - M[:, ~free] @ z[~free]
        Q, R = np.linalg.qr(M[:, free])
        shrinkage = np.linalg.lstsq(R.T, penalties[free] / 2 * np.sign(z[free]), rcond=None)[0]
        answer[free] = np.linalg.lstsq(R, Q.T @ rest - shrinkage, rcond=None)[0]
    return answer


@dataclass(frozen=True)
class DenseModel:
    """What Algorithm 4 comes to; a column, or an entry, for each component."""

    x_weights: np.ndarray
    y_weights: np.ndarray
    x_rotations: np.ndarray
    y_rotations: np.ndarray
    x_scores: np.ndarray
    y_scores: np.ndarray
    mu: np.ndarray
    gamma: np.ndarray
    anchors: np.ndarray
    objective: np.ndarray
    correlations: np.ndarray


def algorithm_4(X, K, n_components, *, mu_factor=1.0, gamma_factor=1.0):
    """Algorithm 4 of the paper, its slips mended, on prepared dense X (samples are rows) and K.

    The anchors are taken in their order; one whose component is empty (w = 0) goes to the end of the queue.
    """
    X_j, K_j = X.copy(), K.copy()
    queue = deque(range(len(K)))
    W, E, U, B, T, S = [], [], [], [], [], []
    mus, gammas, anchors, objectives, correlations = [], [], [], [], []
    for _ in range(n_components):
        for _ in range(len(queue)):
            k = queue.popleft()
            mu, gamma = np.array([mu_factor, gamma_factor]) * automatic(X_j, K_j, k)
            w, e = anchored_optimum(X_j, K_j, k, mu, gamma)
            if w.any():
                break
            queue.append(k)
        else:
            raise AssertionError("every remaining anchor gives an empty component: Algorithm 4 ends here")
        mus.append(mu)
        gammas.append(gamma)
        anchors.append(k)
        objectives.append(objective(X_j, K_j, w, e, k, mu, gamma))

        w, e = w / np.linalg.norm(X_j @ w), e / np.linalg.norm(K_j @ e)
        W.append(w)
        E.append(e)
        correlations.append((X_j @ w) @ (K_j @ e))

        u, b = X_j.T @ (X_j @ w), K_j @ e
        t, tau = X_j @ u, K_j @ b
        U.append(u)
        B.append(b)
        T.append(t / np.linalg.norm(t))
        S.append(tau / np.linalg.norm(tau))
        X_j = X_j - np.outer(T[-1], T[-1] @ X_j)
        K_j = K_j - np.outer(S[-1], S[-1] @ K_j)
        K_j = K_j - np.outer(K_j @ S[-1], S[-1])

    W, E, U, B, T, S = (np.column_stack(vectors) for vectors in (W, E, U, B, T, S))
    R, Q = U @ np.linalg.inv(T.T @ X @ U), B @ np.linalg.inv(S.T @ K @ B)
    numbers = map(np.array, (mus, gammas, anchors, objectives, correlations))
    return DenseModel(W, E, R, Q, T, S, *numbers)


def assert_is(view, matrix, rng, atol=1e-10):
    """Everything that the contract of a view offers, against the dense matrix."""
    w, r = rng.standard_normal(matrix.shape[1]), rng.standard_normal(matrix.shape[0])
    few, fewer = np.array([4, 0, 7]), np.array([1, 5])
    sparse_w = np.where(np.arange(len(w)) == 5, w, 0)
    assert view.shape == matrix.shape
    np.testing.assert_allclose(view.matvec(w), matrix @ w, atol=atol)
    np.testing.assert_allclose(view.matvec(sparse_w), matrix @ sparse_w, atol=atol)
    np.testing.assert_allclose(view.rmatvec(r), matrix.T @ r, atol=atol)
    np.testing.assert_allclose(view.columns(few), matrix[:, few], atol=atol)
    np.testing.assert_allclose(view.square_norms(), np.sum(matrix**2, axis=0), atol=atol)
    selection = view.selection()
    selection.add(few)
    selection.add(fewer)
    chosen = matrix[:, np.concatenate([few, fewer])]
    block = rng.standard_normal((len(r), 3))
    assert len(selection) == 5
    np.testing.assert_allclose(selection.matvec(w[:5]), chosen @ w[:5], atol=atol)
    np.testing.assert_allclose(selection.rmatvec(block), chosen.T @ block, atol=atol)
    np.testing.assert_allclose(selection.rmatvec(block, 3), chosen[:, 3:].T @ block, atol=atol)
    np.testing.assert_allclose(selection.gram(3), chosen.T @ chosen[:, 3:], atol=atol)
