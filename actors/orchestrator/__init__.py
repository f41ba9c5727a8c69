"""The orchestrator: owns the sessions and the turn journal, and runs the turns.

It is the only process that knows what a conversation is. It owns no tool, no model and no
surface: it asks `router` which tools fit, `gatekeeper` for grammar, text and calls, `inference`
for the answer, and tells whoever subscribed to a session what happens.
"""
