"""From the sufficiency score to what happens next: answer, retrieve more, fetch from the web, or abstain."""

from .types import Action, Decision, LoopState, SufficiencyReport


class ThresholdAction:
    """The first of these that is possible: answer, retrieve_more, fetch_web, abstain.

    - answer: the score reaches the threshold;
    - retrieve_more: a round is left, there is a query not tried before, the last round brought new passages;
    - fetch_web: a web fetch is left (none ever is where the web is not allowed);
    - abstain: always possible.
    """

    def decide(self, report: SufficiencyReport, state: LoopState) -> Decision:
        """Total: every report and state gets a decision with its reason."""
        standing = _standing(report)
        obstacles = _obstacles_to_retrieval(state)
        if report.sufficient:
            return _decision("answer", f"{standing}.", None, report, state)
        if not obstacles:
            reason = f"{standing}; {_count(state.rounds_left, 'round')} left and a new query to try."
            return _decision("retrieve_more", reason, state.next_query, report, state)
        because = f"{standing}; {' and '.join(obstacles)}"
        if state.web_fetches_left > 0:
            reason = f"{because}, but {_count(state.web_fetches_left, 'web fetch', 'web fetches')} left."
            return _decision("fetch_web", reason, state.next_query, report, state)
        return _decision(
            "abstain", f"{because}, nor can anything new be asked of the web.", None, report, state
        )


def _standing(report: SufficiencyReport) -> str:
    if report.score is None:
        return "There is no evidence to score"
    relation = "reaches" if report.sufficient else "does not reach"
    return f"The evidence scores {report.score:.2f}, which {relation} the threshold {report.threshold:.2f}"


def _obstacles_to_retrieval(state: LoopState) -> list[str]:
    obstacles = []
    if state.rounds_left <= 0:
        obstacles.append("no round is left")
    if state.next_query is None:
        obstacles.append("no query is left that was not tried")
    if state.new_passages <= 0:
        obstacles.append("the last round brought nothing new")
    return obstacles


def _count(number: int, one: str, many: str = "") -> str:
    return f"{number} {one} is" if number == 1 else f"{number} {many or one + 's'} are"


def _decision(
    action: Action, reason: str, query: str | None, report: SufficiencyReport, state: LoopState
) -> Decision:
    return Decision(action, reason, report.score, report.threshold, query, dict(state.left))
