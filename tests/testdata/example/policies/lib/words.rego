package lib.words

# has is true when the command holds the word.
has(command, word) if word in regex.split(`[\s:]+`, command)
