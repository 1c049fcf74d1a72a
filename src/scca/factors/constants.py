"""The constants of the method, all in one place: what each is, and why it has its value.

Whatever changes an answer stands here. Sizes of tiles, tolerances of iterations and the like, which change no answer by
more than rounding, stand where they are used. "Measured" means: chosen on corpora and tables that `benchmarks` and
`docs` name; no figure is reported on the data that a constant was chosen on.
"""

# --- preparing: which features are read, and how much each counts -----------------------------------------------------

FEATURE_RIDGE = 1.0
"""Ridge of the regression that predicts a feature from the other views, for a kernel whose mean diagonal is 1."""

LEAST_R2 = 0.02
"""R^2 of a feature is not taken below this: a feature that cannot be predicted keeps a little weight."""

MOST_POWER, FULL_POWER_SAMPLES = 0.25, 100
"""Feature weights are R^2 to this power, for up to 100 samples; the power falls as 1 / sqrt(n) beyond, since factors of
many samples depend less on the weights."""

FEWEST_WEIGHED = 4
"""Samples below which features are not weighed: nothing can be predicted for a sample left out."""

MOST_WEIGHED = 2_000
"""Samples that features are weighed on, evenly spaced among more: the regression needs a square matrix of this size."""

FEATURES_LEFT = 0.7
"""Share of a view's features that each round of elimination leaves."""

LEAST_BUDGET, BUDGET_PER_SAMPLE = 0.15, 10
"""The automatic budget is at least this share of the features, or ten features per sample if that is less."""

BUDGET_WORTH, BUDGET_ERRORS = 0.85, 5.0
"""A budget must keep this share of the best precision of mates, and lose no more than five standard errors."""

BUDGET_SAMPLES = 1_000
"""The automatic budget is judged on two random parts of about half as many samples each."""

# --- finding ----------------------------------------------------------------------------------------------------------

RIDGE = 0.25
"""lambda, for samples of unit norm: strong enough for more features than samples, weak enough for 2,000 samples."""

RIDGE_SAMPLES = 10_000
"""The ridge grows with the number of samples from here on: more samples have more rare features, which a fixed ridge
would turn into factors of few samples."""

MOST_FEATURES, MOST_VARIANCE = 6_000, 0.8
"""Factors of many samples are found in the features that vary most, at most so many, if these have this share of the
variance; rare words share what frequent words share."""

WEIGHTED_SAMPLES = 3_000
"""From so many samples on, samples are weighted so that none has too much leverage."""

WEIGHTING_ROUNDS, LEAST_LEVERAGE, WEIGHTING_FEATURES = 3, 0.1, 3_000
"""Rounds of weighting; share of the mean leverage that is added to each; features of a view that these rounds use."""

MOST_COMPONENTS = 200
"""The most components that "auto" looks for: more are too many to read."""

# --- rotating ---------------------------------------------------------------------------------------------------------

ROW_DAMPING = 0.1
"""Of the mean squared norm of a row of loadings: rows far below it are mostly noise, and stay small."""

# --- selecting and refitting ------------------------------------------------------------------------------------------

PENALTY_SHARE = 0.15
"""The automatic mu: times the mean of |2 A't| over the features that are read."""

MOST_WEIGHTS = 100
"""Weights of a factor under the automatic penalty: more are too many to read. Twice that if all features are read."""

ENOUGH_WEIGHTS = 0.9
"""Share of `MOST_WEIGHTS` with which the search for a raised penalty is content."""

WEIGHT_RIDGE = 4.0
"""The ridge of the weights, relative to that of the factors."""

UNEXPLAINED = 1.0
"""Over the root of the number of samples: the least share of a factor that its weights leave unexplained. Features
selected among many could explain all of a factor of few samples, by fitting its noise."""

# --- evidence ---------------------------------------------------------------------------------------------------------

FEWEST_HELD_OUT = 6
"""Samples below which none are left out."""

MANY_SAMPLES = 20_000
"""From so many samples on a single split is enough; it leaves out at most as many."""

FEW_GROUPS, MANY_GROUPS, FEW_LARGE_GROUPS = 100, 2_000, 20
"""Folds: five, drawn twice, below 100 groups (a mean of two draws varies less than one of more folds); eight up to
2,000, whose fits learn from nearly all samples; five beyond, for time; ten where at most 20 groups have several samples
each."""

INTERVAL_LEVEL, INTERVAL_WIDENING = 0.95, 2.2
"""Folds share training samples, and a fit to other samples would find somewhat other components: the error of a claim
about new samples is about 2.2 times the standard error of a correlation (`python -m benchmarks honesty`)."""

PERMUTATIONS, CHANCE = 199, 0.05
"""Orders of the samples of a test, and its level."""

LEADING = 5
"""Factors that a test looks at together; the count of components ends before so many in a row that are chance."""

LARGE_RIDGE = 1.0
"""Times the number of samples, for the second statistic of the test: nearly no whitening, so that the strongest
covariances lead."""

TEST_FOLDS, TEST_PARTITIONS = (2, 5), 2
"""Folds of a partition in which the test finds factors again for every order, and the most partitions it averages."""

SMALL_WORK, MEDIUM_WORK, MOST_WORK = 2e4, 5e6, 1.2e7
"""Samples times ranks: above the first, one partition; above the second, fewer folds; above the third, no refits."""

NEAR_COPY, MANY_COPIES, MOSTLY_COPIES = 0.95, 0.1, 0.5
"""Cosine, in every view, from which on two samples are near copies; share of samples with one that is looked into, and
that is named in any case."""

LEAST_DIMENSION = 5.0
"""Of one view at least, for near copies to mean anything: in fewer dimensions samples are alike by chance."""
