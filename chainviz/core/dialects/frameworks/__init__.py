"""Shapes of agent frameworks and training data: LangChain's calls, Vercel's parts, OpenHands events, the steps of a ReAct log,
and calls that are elements of a text (`marked_text`)."""
