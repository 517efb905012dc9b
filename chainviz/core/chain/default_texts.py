"""The texts of messages that chainviz adds.

The arguments of an added call and the result of a call without one come from seed 0, the call that a summary answers
from seed 1.
"""

FALLBACK_REQUEST_ARGUMENTS = "{}"
FALLBACK_RESPONSE_CONTENT = "the call was not handled, please try again"
SUMMARIZATION_ARGUMENTS = '{"question": "delegate and execute the task, then return the summary of the result"}'
