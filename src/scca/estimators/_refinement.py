"""Letting go of the anchor: from an anchored solution to a pair of directions that hold each other up."""

from dataclasses import replace

import numpy as np

from ..solver import ComponentResult, Penalty, no_view, solve_views
from ..views import View

__all__ = ["refine"]


def refine(
    left: View,
    right: View,
    start: ComponentResult,
    *,
    tol: float,
    max_iter: int,
    algorithm: str,
    max_rounds: int = 1000,
) -> ComponentResult | None:
    """Alternate between the two views from an anchored solution, A and B being their matrices.

    Raises, never lowers,

        J(w, e) = <A w, B e> - mu/2 ||w||_1 - gamma/2 ||e||_1    over  ||A w|| <= 1,  ||B e|| <= 1,

    in turn over w and over e, which may now have either sign and has no anchor. For a fixed e with ||B e|| = 1 the
    best w is that of a lasso, min ||A w - B e||^2 + mu ||w||_1, scaled to ||A w|| = 1: with z = 2 lambda w the
    Lagrangian lambda ||A w||^2 - <A w, B e> + mu/2 ||w||_1 is that lasso in z, whatever lambda. The same holds for e.
    So every half step is a convex problem with a certificate, J grows to a limit (it is at most 1), and at a fixed
    point w and e are each optimal given the other. The anchored w is the first half step: its penalties, for a target
    of norm 1, are `start.mu` and `start.gamma` over ||B e||, and stay fixed.

    Parameters
    ----------
    left, right : View
        Both as deflated so far.
    start : ComponentResult
        The anchored solution.
    tol : float
        Stop when a round raises J by no more; also the relative gap of every lasso.
    max_iter, algorithm
        Of every lasso.
    max_rounds : int

    Returns
    -------
    ComponentResult or None
        w and e with ||A w|| = ||B e|| = 1; `objective` is J, `dual_gap` the sum of the gaps of the two last lassos.
        None where a view has nothing that outweighs its penalty.
    """
    target = right.matvec(np.asarray(start.e))
    norm = float(np.linalg.norm(target))
    mu, gamma = start.mu / norm, start.gamma / norm
    w, e, target = start.w / norm, np.asarray(start.e), target / norm
    value, n_iter, n_passes, converged = -np.inf, 0, start.n_passes, False
    while not converged and n_iter < max_rounds:
        n_iter += 1
        left_half = _lasso(left, target, mu, w, tol, max_iter, algorithm)
        score, left_norm = _unit(left.matvec(left_half.w))
        right_half = _lasso(right, score, gamma, e, tol, max_iter, algorithm)
        target, right_norm = _unit(right.matvec(right_half.w))
        if not (left_norm > 0 and right_norm > 0):
            return None
        w, e = left_half.w, right_half.w
        n_passes += left_half.n_passes + right_half.n_passes + 2
        before = value
        value = float(score @ target) - mu / 2 * np.abs(w).sum() / left_norm - gamma / 2 * np.abs(e).sum() / right_norm
        converged = bool(value - before <= tol)
    return replace(
        start,
        w=w / left_norm,
        e=e / right_norm,
        objective=value,
        dual_gap=left_half.dual_gap + right_half.dual_gap,
        mu=mu,
        gamma=gamma,
        n_iter=n_iter,
        n_passes=n_passes,
        converged=converged and left_half.converged and right_half.converged,
    )


def _lasso(view: View, target: np.ndarray, penalty: float, start, tol: float, max_iter: int, algorithm: str):
    nothing, held = no_view(len(target)), Penalty(value=np.inf)
    return solve_views(
        *(view, nothing, None, target),
        mu=Penalty(value=penalty),
        gamma=held,
        tol=tol,
        max_iter=max_iter,
        algorithm=algorithm,
        w0=start,
    )


def _unit(score: np.ndarray) -> tuple[np.ndarray, float]:
    norm = float(np.linalg.norm(score))
    return score / (norm if norm > 0 else 1.0), norm
