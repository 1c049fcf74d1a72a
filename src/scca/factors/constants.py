"""The constants of the method, all in one place: what each is, and why it has its value.

Every constant that changes an answer stands here. Sizes of tiles, tolerances of iterations and the like, which change
no answer by more than rounding, stand where they are used. Values were chosen on corpora and tables that `benchmarks`
and `docs` name; no figure is reported on the data that a constant was chosen on.
"""

# --- preparing: which features are read, and how much each counts -----------------------------------------------------

FEATURE_RIDGE = 1.0
"""Ridge of the regression that predicts a feature from the other views, for a kernel whose mean diagonal is 1."""

LEAST_R2 = 0.02
"""Lower bound on the R^2 of a feature: a feature that cannot be predicted keeps a little weight."""

MOST_POWER, FULL_POWER_SAMPLES = 0.25, 100
"""Feature weights are R^2 to the power 0.25 for up to 100 samples. For more samples the power falls as 1 / n: weights
help where samples are few, and from 1,000 captions on they harm."""

FEWEST_JUDGED = 4
"""Minimum number of samples for judging features: with fewer, nothing can be predicted for a sample left out."""

MOST_JUDGED = 500
"""Maximum number of samples by which features are judged: the regression needs a square matrix of this size, and the
weights of more samples hardly differ from 1."""

FEATURES_LEFT = 0.6, 0.8
"""Share of a view's features that each round of the choice keeps: with many factors or samples, and for one factor of
at most `FULL_POWER_SAMPLES` samples, where a few features among many are found only if they are judged anew often."""

JUDGED_POWER = 300.0
"""How much the choice of features depends on what the other views predict of each: for one factor of at most
`FULL_POWER_SAMPLES` samples. With more factors it falls as 1 / c^2, with more samples as 1 / n^2: there the weights of
the factors tell more. Chosen on planted features and checked on tables; texts, of many factors, hardly notice."""

LEAST_BUDGET, BUDGET_PER_SAMPLE = 0.15, 10
"""The automatic budget is at least 0.15 of the features, or ten features per sample if these are fewer: from easy
pairs left out, which are nearly all found, nobody could tell that a smaller one loses something."""

FEWEST_BUDGETED = 16
"""Number of samples from which on a budget is judged; it is at least (16 / n)^3 of the features, so that none of 17
samples is much smaller than that of 16."""

BUDGET_ERRORS, BUDGET_WIDE = (1.0, 2.0), 3
"""A budget may lose no more on samples left out than this many standard
errors of the loss: one with up to three features per sample, two with six or more. Of narrow views nearly every feature
counts, and small budgets lost mates of captions and of tables; wide ones are mostly noise. Where every component weighs
all features that are read, the loss is beside all features alike, as kernel CCA reads them: beside the best budget, or
all features weighted, 100 pairs would read half of their words. Where each component selects its own features, it is
beside the best budget."""

KEPT_WIDENING = 2.9
"""Half the width of the interval of what a budget keeps, in standard errors: more than 1.96, since
parts of the samples share their training samples, and the budget is decided on with some noise. With 1.96 it had the
truth in .71 to .88 of the data sets (100 to 500 samples), since errors were 1.3 to 1.5 times as large as they
seemed."""

BUDGET_POWER = 0.25
"""The mates of samples left out count rank^-1/4 for the budget: 1 / rank would hardly tell a rank of 20 from one of 40,
and with few components all ranks are like that."""

BUDGET_FOLDS, BUDGET_SAMPLES, BUDGET_CANDIDATES = 5, 1_000, 2_000
"""The budget is judged on parts of a fifth of the samples, on about 1,000 of them in all if there are more; maximum
number of candidates among which the mate of a sample is searched."""

BUDGET_HOPELESS = 1e-4
"""A round that loses so much on one part of the samples that chance alone would with this probability is the last."""

# --- finding ----------------------------------------------------------------------------------------------------------

RIDGE = 0.25
"""lambda, for samples of unit norm: strong enough for more features than samples, weak enough for 2,000 samples."""

RIDGE_SAMPLES = 10_000
"""Number of samples from which on the ridge grows in proportion: more samples have more rare features, which a fixed
ridge would turn into factors of few samples."""

MOST_FEATURES, MOST_VARIANCE = 6_000, 0.8
"""Factors of many samples are found in the 6,000 features that vary most, if these have 0.8 of the variance: rare words
share what frequent words share."""

WEIGHTED_SAMPLES, FULLY_WEIGHTED_SAMPLES = 3_000, 6_000
"""Numbers of samples from which on samples are weighted, so that none has too much leverage, and fully weighted."""

ROUGH_FEATURES = 2_000
"""Maximum number of features of a view in which factors of many samples are found to choose features by: features of
little variance have small parts in them anyway, and the choice takes most of the time of a fit."""

WEIGHTING_ROUNDS, LEAST_LEVERAGE, WEIGHTING_FEATURES = 3, 0.1, 3_000
"""Number of rounds of weighting; share of the mean leverage added to each; maximum number of features that they use."""

MOST_COMPONENTS = 200
"""Maximum number of components that "auto" looks for: more are too many to read."""

# --- rotating ---------------------------------------------------------------------------------------------------------

ROW_DAMPING = 0.1
"""Share of the mean squared norm of a row of loadings added to each, so that small rows, mostly noise, stay small."""

# --- selecting and refitting ------------------------------------------------------------------------------------------

PENALTY_SHARE = 0.15
"""The automatic mu, as a share of the mean of |2 A't| over the features that are read."""

MOST_WEIGHTS = 100
"""Maximum number of weights of a factor under the automatic penalty, for a reader. It grows with the share of the
features that are read, to twice as many: a factor needs more features where none were chosen beforehand."""

ENOUGH_WEIGHTS = 0.9
"""Share of `MOST_WEIGHTS` at which the search for a raised penalty stops."""

WEIGHT_RIDGE = 4.0
"""The ridge of the weights, relative to that of the factors."""

JOINT_RIDGE, JOINT_RIDGE_SAMPLES = 0.25, 10_000
"""The ridge of weights on all features that are read, relative to that of the factors, is 0.25 sqrt(n), for at most
10,000 samples: weights of many samples can be regularised more, since single samples matter less."""

UNEXPLAINED = 1.0
"""Smallest share of a factor that its weights leave unexplained, times the root of the number of samples. Features
selected among many could explain all of a factor of few samples, by fitting its noise."""

# --- evidence ---------------------------------------------------------------------------------------------------------

FEWEST_HELD_OUT = 6
"""Minimum number of samples for leaving any out."""

MANY_SAMPLES = 20_000
"""Number of samples from which on a single split is enough; also the maximum number of samples that it leaves out."""

FEW_GROUPS, MANY_GROUPS, FEW_LARGE_GROUPS = 100, 1_000, 20
"""Numbers of groups that decide the folds: five folds, drawn twice, below 100 groups (a mean of two draws varies less
than one of more folds); eight up to 1,000 groups, whose fits learn from nearly all samples; five beyond, to save time;
ten where at most 20 groups have several samples each."""

INTERVAL_LEVEL, INTERVAL_WIDENING = 0.95, 2.2
"""Level of the intervals; error of a claim about new samples, relative to the standard error of a correlation: folds
share training samples, and a fit to other samples finds other components (`python -m benchmarks honesty`)."""

PERMUTATIONS, CHANCE = 199, 0.05
"""Number of permutations of the samples in a test, and the level of the test."""

LEADING = 5
"""Number of factors that a test combines; the count of components ends before this many in a row that are chance."""

LARGE_RIDGE = 1.0
"""Ridge per sample of the second statistic of the test: nearly no whitening, so that the strongest covariances lead."""

TEST_FOLDS, TEST_PARTITIONS = (2, 5), 2
"""Minimum and maximum number of folds that the test refits for every order; maximum number of partitions."""

SMALL_WORK, MEDIUM_WORK, MOST_WORK = 2e4, 5e6, 1.2e7
"""Limits on samples times ranks, summed over pairs of views: above the first, the test uses one partition; above the
second, fewer folds; above the third, nothing is refitted."""

NEAR_COPY, MANY_COPIES, MOSTLY_COPIES = 0.95, 0.1, 0.5
"""Cosine, in every view, from which on two samples are near copies; share of samples with a near copy from which on
copies are tested; share from which on a warning names them in any case."""

LEAST_DIMENSION = 5.0
"""Smallest dimension of one view for near copies to mean anything: in fewer dimensions samples are alike by chance."""
