"""Views of a project file, for anyone who reads it with other programs."""

from __future__ import annotations

NORMALISED = (
    "100.0 * iif(metric.lower_is_better, metric.high - score.score, score.score - metric.low)"
    " / (metric.high - metric.low)"
)

VIEWS = (
    # ruff: noqa: S608 - all parts are constants
    f"""
    CREATE VIEW step_scores AS
    SELECT run.id AS run_id, run.initial_image, run.model, run.protocol, run.repeat, step.number AS step,
        score.metric, score.method_version, score.score, {NORMALISED} AS normalised
    FROM run
    JOIN step ON step.run_id = run.id
    JOIN score ON score.image_sha256 = step.image_sha256
    JOIN metric ON metric.key = score.metric
    """,
    """
    CREATE VIEW score_gaps AS
    SELECT run_id, initial_image, model, protocol, repeat, metric, method_version,
        at_5 - at_1 AS delta_5, at_10 - at_1 AS delta_10, at_20 - at_1 AS delta_20,
        ifnull(at_5 > at_1, 0) + ifnull(at_10 > at_1, 0) + ifnull(at_20 > at_1, 0) AS failures
    FROM (
        SELECT run_id, initial_image, model, protocol, repeat, metric, method_version,
            max(iif(step = 1, normalised, NULL)) AS at_1,
            max(iif(step = 5, normalised, NULL)) AS at_5,
            max(iif(step = 10, normalised, NULL)) AS at_10,
            max(iif(step = 20, normalised, NULL)) AS at_20
        FROM step_scores
        WHERE step IN (1, 5, 10, 20)
        GROUP BY run_id, metric, method_version
    )
    """,
    """
    CREATE VIEW tag_onsets AS
    SELECT run.id AS run_id, run.initial_image, run.model, run.protocol, run.repeat, tag.failure_mode,
        failure_mode.level, tag.annotator, tag.onset, tag.end_step, tag.severity, tag.review_state
    FROM tag
    JOIN run ON run.id = tag.run_id
    JOIN failure_mode ON failure_mode.key = tag.failure_mode
    """,
    # A run whose calls were not logged, an imported one, counts what its steps say.
    """
    CREATE VIEW run_costs AS
    SELECT run.id AS run_id, run.model, run.protocol,
        ifnull(by_step.steps_done, 0) AS steps_done, run.steps_planned,
        ifnull(by_call.calls, 0) AS calls, ifnull(by_call.failed_calls, 0) AS failed_calls,
        iif(by_call.calls, by_call.input_tokens, by_step.input_tokens) AS input_tokens,
        iif(by_call.calls, by_call.output_tokens, by_step.output_tokens) AS output_tokens,
        iif(by_call.calls, by_call.cost_usd, by_step.cost_usd) AS cost_usd,
        iif(by_call.calls, by_call.seconds, by_step.seconds) AS seconds
    FROM run
    LEFT JOIN (
        SELECT run_id, sum(outcome = 'done') AS steps_done, sum(input_tokens) AS input_tokens,
            sum(output_tokens) AS output_tokens, sum(cost_usd) AS cost_usd, sum(seconds) AS seconds
        FROM step GROUP BY run_id
    ) AS by_step ON by_step.run_id = run.id
    LEFT JOIN (
        SELECT run_id, count(*) AS calls, sum(outcome <> 'done') AS failed_calls,
            sum(input_tokens) AS input_tokens, sum(output_tokens) AS output_tokens,
            sum(cost_usd) AS cost_usd, sum(seconds) AS seconds
        FROM call GROUP BY run_id
    ) AS by_call ON by_call.run_id = run.id
    """,
)
