"""The agenda actor: reminders, tasks, timers, and the clock."""
