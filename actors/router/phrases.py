r"""Tables of plain commands, in English and German: the words that ask for a tool literally.

Each tool has one verbose regular expression with an alternative a line, matched in lower case
against a text without its quotations. ``~`` stands for a gap inside a sentence. A tool that isn't
registered is never found, so that a table may name tools that an installation hasn't got.
"""

import re
from collections.abc import Mapping

_NOTES = r"(?:notes?|files?|vault|journal|diary|notiz(?:en|buch)?|datei(?:en)?|tagebuch)"
_FOLDER = r"(?:folders?|director(?:y|ies)|ordner|verzeichnis)"
_A_NOTE = r"(?:notes?|journal|diary)"
_SAYS = r"(?:mention|contain|talk|say|about|über|steh)"


def _compile(table: Mapping[str, str]) -> Mapping[str, re.Pattern[str]]:
    gap = r"[^.!?\n]{0,40}?"
    return {
        tool: re.compile(text.replace("~", gap), re.VERBOSE | re.IGNORECASE)
        for tool, text in table.items()
    }


ONLY_IF_SAID = _compile(
    {
        "vault:daily": r"""
            \b(?:daily|dailies|journal|diary|tagebuch\w*|tagesnotiz\w*)\b
          | \b(?:today|yesterday|tomorrow)(?:'s|\u2019s)\s+(?:note|page|entry)\b
          | \b(?:heutige\w*|gestrige\w*|morgige\w*)\s+(?:notiz|seite|eintrag)\b
        """,
        "memory:about_me": r"""
            \b(?:call(?:ing|ed)?|names?|address|always|never|prefer|answers?|units|i'?m|i\s+am|about\s+me
              |nenn\w*|hei(?:ß|ss)e|ich\s+bin|immer|lieber)\b
        """,
        "agenda:remind_at": r"""
            \b(?:remind|reminder|reminding|every|each|forget|ping|nudge|let\s+me\s+know|tell\s+me
              |tomorrow|tonight|at\s+(?:\d|noon|midnight|half)|in\s+(?:an?|one|half|\d+)
              |erinner\w*|vergess\w*|jede\w*|morgen|um\s+\d)\b
        """,
        "agenda:snooze": r"""
            \b(?:snooz\w*|postpone\w*|put\b~\boff|later|again|not\s+now|später|nochmals?|verschieb\w*)\b
        """,
        "agenda:remove": r"""
            \b(?:cancel\w*|delet\w*|remov\w*|stop\w*|turn\b~\boff|not\b~\bany\s*more|drop|clear
              |lösch\w*|entfern\w*|streich\w*|abbrech\w*|brich)\b
        """,
        "agenda:remind_self": r"""
            \b(?:you|yourself|tell\s+me|check|look|read|summari[sz]e|review|search|go\s+through|do
              |schau\w*|lies|sag\s+mir|fass\w*|prüf\w*|du)\b
        """,
        "clock:timer": r"\b(?:timer|time|count\s*down|stoppuhr|eieruhr)\b",
        "clock:alarm": r"\b(?:alarms?|wake|wakes|waking|get\s+up|weck\w*)\b",
    }
)
"""Tools that no text means without these words: to an embedder `notes/today.md` is the daily note,
and a greeting says who somebody is."""

PHRASES = _compile(
    {
        "vault:write": rf"""
            (?<!did\ i\ )(?<!have\ i\ )\b(?:write|jot|note|put|take)\b~\bdown\b
          | \b(?:keep|make|take)\s+a\s+(?:record|note)\b
          | \b(?:make|take|add|create|save|write|leave)\b~\bnotes?\b
          | \b(?:save|store|keep|add|append|put|log|record)\b~\b(?:to|in|into|on)\s
              +(?:my|the|a)\s+(?:\w+\s+){{0,2}}(?:{_NOTES}|list)\b
          | ^(?:note|memo|notiz)\s*:
          | ^(?:please\s+)?remember\b~\b(?:in|to)\s+(?:my\s+|the\s+)?{_NOTES}\b
          | \b(?:notiere?|vermerke?)\b
          | \bschreib\w*\b~\bauf\b
          | \b(?:speicher\w*|erstell\w*|schreib\w*|leg\w*|ergänz\w*)\b~\b{_NOTES}\b
        """,
        "memory:stage": rf"""
            ^(?:please\s+|bitte\s+|and\s+|und\s+)?(?:remember|merke?\s+dir)\b
              (?!\s+(?:when|how|me)\b)(?!~\b(?:in|to)\s+(?:my\s+|the\s+)?{_NOTES}\b)
          | \b(?:keep|bear)\s+(?:it\s+|that\s+)?in\s+mind\b | \bmental\s+note\b | \bmemori[sz]e\b
          | ^(?:please\s+)?(?:do\ not|don'?t|never)\s+forget\b | ^vergiss\s+nicht\b
          | \bbehalte?\b~\bim\s+(?:kopf|gedächtnis)\b
        """,
        "memory:forget": r"""
            ^(?:please\s+|bitte\s+)?forget\b(?!\s+(?:it|me)\b) | ^(?:bitte\s+)?vergiss\b(?!\s+nicht)
        """,
        "memory:query": r"""
            \bwhat\s+do\s+you\s+(?:know|remember)\s+(?:about|of)\b
          | \bdo\s+you\s+(?:still\s+)?(?:remember|recall)\s+(?:what|when|where|who|which|how|my)\b
          | \bwas\s+wei(?:ß|ss)t\s+du\s+(?:über|von)\b | \bwei(?:ß|ss)t\s+du\s+noch\b
        """,
        "memory:staged_list": r"""
            \bstaged\b | \bwhat\s+(?:have|did)\b~\b(?:remembered|ask\s+you\s+to\s+remember)\b
        """,
        "memory:commit": r"^(?:please\s+)?commit\b(?!\s+(?:all|every))",
        "memory:commit_all": r"^(?:please\s+)?commit\s+(?:all|every)",
        "memory:about_me": r"""
            ^(?:please\s+|from\s+now\s+on,?\s+)?call\s+me\b(?!\s+(?:at|on|back|later|when|a)\b)
          | ^my\s+name\s+is\b | \b(?:nenn\w*\s+mich|ich\s+hei(?:ß|ss)e)\b
        """,
        "doc:ingest": r"""
            \b(?:ingest|take\s+in|read\s+in|lies\b~\bein|nimm\b~\bauf)\b~
              (?:\b(?:documents?|pdfs?|books?|files?|dokumente?)\b|\.(?:pdf|docx|epub|html)\b)
          | \bingest\b
        """,
        "doc:read": r"""
            \b(?:page|seite)\s+\d+\b
        """,
        "doc:query": r"""
            \bwhat\s+does\b~\b(?:manual|pdf|document|contract|handbook|book)\b~\bsay\b
          | \baccording\s+to\s+the\s+(?:manual|pdf|document|contract|handbook|book)\b
          | \bsearch\b~\b(?:documents?|pdfs?)\b
          | \b(?:laut|im)\s+(?:dokument|handbuch|vertrag)\b
        """,
        "doc:list": r"""
            \b(?:which|what|list|show|all)\b~\b(?:documents|pdfs|dokumente)\b(?!~\bsay)
        """,
        "doc:delete": r"""
            \b(?:delete|remove|forget)\b~\b(?:document|pdf|dokument)\b
        """,
        "vault:search": rf"""
            \b(?:search|grep|look\s+(?:for|through)|find|scan)\b~\b{_NOTES}\b
          | ^(?:please\s+)?(?:search|find|look)\s+(?:for|everything|anything|all)\b
          | \b(?:locate|look\s+up)\b~\b{_NOTES}\b
          | \blook\s+(?:it|that|this)\s+up\b~\b{_NOTES}\b
          | \b(?:is\s+there|gibt\s+es|habe\s+ich)\s+(?:an?y?|eine?)\s+(?:note|notiz)
          | \b{_NOTES}\b[^.!?]{{0,20}}?\b(?:mention|contain|talk|say\w*~\babout)
          | \b(?:where|when|what)\s+did\s+i\s+(?:write|note|put|save|say)\b
          | ^(?:did|have)\s+i\s+(?:ever\s+)?(?:write|written|note|noted|save|saved)\b
          | \b(?:such\w*|find\w*|durchsuch\w*)\b~\bnotizen\b
          | \bin\s+welche[rn]\s+(?:notiz|datei)
          | \bwo\s+habe?\s+ich\b
        """,
        "vault:list": rf"""
            (?:^|\b(?:please|bitte|you|to)\s+)liste?\b~\b(?:{_NOTES}|{_FOLDER})\b
          | \b(?:show\s+(?:me\s+)?all|zeig\w*\s+(?:mir\s+)?alle)\b~\b(?:{_NOTES}|{_FOLDER})\b
          | \b(?:which|what|how\s+many|welche|wie\s?viele)\s+{_NOTES}\b(?![^.!?]{{0,20}}\b{_SAYS})
          | \bwhat(?:'s|\s+is|\s+are)?\b~\bin\b~\b(?:vault|{_FOLDER})\b
          | \b(?:show|see|open|zeig\w*)\b~\b{_FOLDER}\b
          | \b(?:overview|übersicht|contents)\s+(?:of|over|über)\s+(?:my|the|meine|die)\s+
              (?:notes|files|vault|notizen|dateien)\b
        """,
        "vault:read": rf"""
            \b(?:read|show|open|display|print|summari[sz]e)\b~\b{_A_NOTE}\b
          | \bwhat(?:'s|\s+is|\s+was|\s+does|\s+stands?)\b~\b(?:{_A_NOTE}|list)\s*(?:say|\?|$)
          | \b(?:lies|zeig\w*|öffne)\b~\bnotiz\b
          | \bwas\s+steht\s+(?:auf|in)\s+(?:der|dem|meine[rm])\b
        """,
        "vault:links": r"""
            \b(?:backlinks?|dead\s*ends?|orphan(?:s|ed)?\s+notes?)\b
          | \b(?:broken|unresolved|dead)\s+links?\b
          | \bnotes?\s+(?:that\s+)?(?:link|point)s?\s+to\b
        """,
        "vault:add_task": r"""
            ^(?:please\s+|bitte\s+)?(?:add|create|make|new)\s+(?:a\s+|the\s+|another\s+)?(?:new\s+)?
              (?:tasks?|to-?dos?)\b
          | ^(?:new\s+)?(?:task|to-?do|aufgabe)\s*:
          | \b(?:neue)\s+aufgabe\b
        """,
        "vault:tick_task": r"""
            \b(?:tick|check)\b~\boff\b | ^(?:please\s+)?mark\b~\bas\s+(?:done|finished)\b
          | \b(?:hake?|streiche?)\b~\bab\b
        """,
        "vault:tasks": r"""
            \b(?:my|all|open)\s+(?:open\s+)?(?:to-?dos?|tasks)\b
          | \b(?:which|what)\s+(?:tasks|to-?dos)\b
          | \b(?:list|show)\b~\b(?:to-?dos|tasks)\b
          | \b(?:offene\w*|meine)\s+aufgaben\b
        """,
        "vault:daily": r"""
            \bdaily\s+(?:note|page)\b | \b(?:today|yesterday|tomorrow)'?s\s+(?:note|journal)\b
          | \btagesnotiz\b
        """,
        "vault:delete": r"""
            \b(?:delete|remove|trash)\s+(?:the|my|this|that)\s+(?:\w+\s+)?(?:notes?|files?|folder)\b
        """,
        "vault:taglist": r"\b(?:which|what|list|show|my|all|used)\b~\b(?:hash)?tags\b",
        "vault:query": r"""
            \bnotes?\s+(?:where|with)\b~(?:=|<|>) | \bfrontmatter\b
        """,
        "vault:undo": r"^(?:please\s+|bitte\s+)?undo\b | \brückgängig\b",
        "skills:create": r"\b(?:create|make|write|save|add|learn)\b~\bskill\b",
        "agenda:remind_at": r"""
            \bremind\s+(?:me|us)\b(?!\s+again) | \bping\s+me\b | \bdon'?t\s+let\s+me\s+forget\b
          | \b(?:set|create|make|add)\b~\breminder\b | \breminder\s+(?:for|at|in|on|every|to)\b
          | ^(?:every|each)\s(?:[\w-]+\s+){1,3}?at\s+(?:\d|noon|midnight|half|quarter)
          | \berinner\w*\s+(?:mich|uns)\b | ^jede[nrs]?\s(?:\w+\s+){1,3}?um\s+\w
        """,
        "agenda:remind_self": r"""
            ^(?:every|each|tomorrow|tonight|on|in|at)\b~
              \b(?:check|look|read|summari[sz]e|review|search|go\s+through)\b
          | \bremind\s+yourself\b | \bby\s+yourself\b
        """,
        "agenda:list": r"""
            \b(?:which|what|list|show|see|any|my|all)\s(?:\w+\s+){0,2}?(?:reminders|alarms|timers)\b
          | \b(?:on|see|show)\s+(?:me\s+)?(?:my|the)\s+agenda\b
          | \b(?:welche|zeig\w*|meine|alle)\s(?:\w+\s+){0,2}?(?:erinnerungen|wecker|timer)\b
        """,
        "agenda:complete": r"""
            \b(?:done|finished|completed?)\b~\ba\d+\b
          | \ba\d+(?:\.\d+)?\s(?:\w+\s+)?(?:done|finished)\b
          | \b(?:mark|tick)\b~\ba\d+\b
        """,
        "agenda:remove": r"""
            \b(?:cancel|delete|remove|stop|turn\s+off)\b~\b(?:reminders?|alarms?|timers?|a\d+)\b
          | \bstop\s+reminding\b | \b(?:lösch\w*|entfern\w*)\b~\b(?:erinnerung|wecker|timer)\b
        """,
        "agenda:snooze": r"""
            \bsnooze\b | \bremind\s+me\s+again\b | \b(?:postpone|put\s+off)\b~\breminder\b
          | \berinner\w*\s+mich\b~\bnochmals?\b
        """,
        "clock:timer": r"""
            ^(?!.*\b(?:cancel|stop|delete|remove|lösch\w*|show|list|which|what|left)\b).*\btimer\b
          | \bcount\s*down\b
        """,
        "clock:alarm": r"""
            \bwake\s+me\b | \b(?:set|add)\b~\balarm\b | ^alarm\b | \bweck\w*\s+mich\b
          | \bwecker\s+(?:auf|um|für)\b
        """,
        "clock:now": r"""
            ^is\s+(?:it|today)\s+(?:mon|tues|wednes|thurs|fri|satur|sun)day\b
          | \b(?:what|which)\s+(?:time|day|date|weekday|month|year)\s+(?:is|do)\b
          | \b(?:current|today'?s)\s+(?:time|date|day)\b
          | \bwie\s+spät\b | \bwie\s?viel\s+uhr\b | \buhrzeit\b
          | \b(?:welche[rsn]?|den)\s+(?:wievielten|datum|tag|wochentag|monat|jahr)\b
        """,
    }
)
"""Phrases that need no note's name."""

NOTE_COMMANDS = _compile(
    {
        # What is said of less comes before what is said of more, and writing before reading: a text
        # that both reads and writes needs the tool that writes.
        "vault:undo": r"""
            ^(?:please\s+)?(?:undo|revert|take\s+back)\b | \brückgängig\b | \bnimm\b~\bzurück\b
        """,
        "vault:tick_task": r"""
            \b(?:tick|check)\b~\boff\b | \bmark\b~\b(?:as\s+)?(?:done|finished|completed)\b
          | \b(?:tick|finish\w*)\b~\b(?:tasks?|to-?dos?)\b | \b(?:hake?\b~\bab|abhaken)\b
        """,
        "vault:add_task": r"""
            \b(?:add|create|put|new)\b~\b(?:task|to-?do)\b | \b(?:füg\w*|neue)\b~\baufgabe\b
        """,
        "vault:tasks": r"""
            \b(?:list|open|show)\b~\b(?:tasks?|to-?dos?)\b
          | \b(?:which|what)\s+(?:tasks?|to-?dos?)\b | \baufgaben?\b
        """,
        "vault:links": r"""
            \b(?:backlinks?|links?\s+(?:to|from|in)|links?\b~\b(?:point|lead)|linked)\b
        """,
        "vault:move": r"""
            \b(?:rename|move)\b | \b(?:verschieb\w*|umbenenn\w*|benenne?)\b
        """,
        "vault:delete": r"""
            ^(?:please\s+|can\s+you\s+|bitte\s+)?(?:delete|trash|lösch\w*|throw\s+(?:away|out))\b
              (?!\s+(?:everything|all|what|the\s+(?:\w+\s+)?(?:text|words?|lines?|contents?))\b)
          | \b(?:delete|remove)\s+(?:the\s+|my\s+)?(?:notes?|files?|folders?)\b
          | \bthrow\b~\baway\b | \b(?:in|into|to)\s+the\s+trash\b | \bget\s+rid\s+of\b
        """,
        "vault:append": r"""
            \b(?:under|below|beneath|unter)\b~\b(?:heading|section|headline|überschrift|abschnitt)\b
          | \b(?:heading|section)\b~:
          | \b(?:at|to)\s+the\s+(?:very\s+)?(?:end|bottom)\s+of\b
        """,
        "vault:edit": r"""
            \b(?:replace|change|swap|substitute)\b
              (?!\s+(?:all|everything|the\s+(?:whole\s+|entire\s+)?(?:text|contents?))\b)~\b(?:with|by|to|for|into)\b
          | \b(?:correct|fix|rewrite|rephrase|edit)\b | \bset\b~\bto\b
          | \b(?:set|remove|delete|change)\b~\bpropert(?:y|ies)\b
          | \b(?:ersetz\w*|änder\w*)\b~\b(?:durch|zu|in)\b | \bkorrigier\w*
        """,
        "vault:write": r"""
            \b(?:save|write|add|append|create|put|jot|record|store|update|replace|overwrite|insert
              |log|change|prepend|make|enter|tick|check\s+off)\b
          | \bnote\s+(?:that|this|down|in|into)\b
          | \b(?:speicher|schreib|notier|füg|hinzu|ergänz|erstell|trag|ersetz|überschreib|änder)\w*
          | \bleg\w*\b~\ban\b
        """,
        "vault:read": r"""
            \b(?:read|show|open|display|print|view|cat|summari[sz]e|says?|tell|quote|contents?)\b
          | \bwhat(?:'s|\s+is|\s+was|\s+does|\s+stands)?\s+(?:\w+\s+){0,3}(?:in|on|say|written)\b
          | \b(?:lies|lese|zeig\w*|öffne\w*|steht|fasse?)\b
        """,
    }
)
"""What is to be done with a note that the text names. The first that fits decides."""

NEED_THE_TEXT = frozenset({"vault:write", "vault:append", "vault:edit"})
"""Tools that change what a note says, which may have to be read first."""

POINTS_BACK = re.compile(
    r"""\b(?:it|its|that|this|them|there|the\s+(?:same|note|file)
        |es|das|dies\w*|darin|dort|dazu|davon|die\s+(?:notiz|datei))\b""",
    re.VERBOSE | re.IGNORECASE,
)
"""Words that speak of something said before."""
