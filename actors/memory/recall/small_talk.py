"""What needs no memory: greetings, thanks, yes and no."""

from eris.vault.words import tokens

_MOST_WORDS = 12

_POLITE = """
hi hello hey heya hiya yo greetings howdy good morning afternoon evening night day bye goodbye
cheers thanks thank thx ty you much very many so a lot ok okay k fine great nice cool perfect
super wonderful awesome yes yeah yep yup no nope nah sure please sorry welcome there eris what
s up how are is it going see later then oh ah well done right exactly again to all everyone
hallo moin servus grüß dich guten morgen tag abend nacht tschüss danke dankeschön schön vielen
dank dir sehr bitte ja nein genau gut alles klar prima toll wie geht es
bonjour bonsoir salut merci beaucoup oui non bien au revoir ça va d accord bonne nuit
hola buenos días buenas tardes noches gracias muchas sí vale adiós qué tal
ciao grazie mille buongiorno buonasera prego va bene
olá obrigado obrigada bom dia boa tarde noite sim não
hoi dag dank je wel hej tack tak god morgon
привет спасибо да нет здравствуйте пока добрый день вечер утро доброе
你好 您好 谢谢 謝謝 再见 早上好 晚安 好的
こんにちは ありがとう おはよう はい いいえ
안녕 안녕하세요 감사합니다 네 아니요
"""

_WORDS = frozenset(tokens(_POLITE))


def is_small_talk(text: str) -> bool:
    """Tell whether a text has nothing in it to look for: no word, or only polite ones.

    >>> is_small_talk("Thanks a lot!"), is_small_talk("Anna's birthday?")
    (True, False)
    """
    words = tokens(text)
    return len(words) <= _MOST_WORDS and _WORDS.issuperset(words)
