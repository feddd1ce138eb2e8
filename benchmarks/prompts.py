"""128 instructions of sixteen kinds, fixed, whose answers run from a word to some sentences."""

#: The system message of all.
SYSTEM = "Answer briefly."

#: One instruction template a kind; each meets its eight subjects.
KINDS: tuple[tuple[str, tuple[str, ...]], ...] = (
    (
        "What is the capital of {}? Answer with the name only.",
        ("France", "Japan", "Egypt", "Peru", "Canada", "Kenya", "Norway", "India"),
    ),
    (
        "What is {}? Give only the number.",
        ("3 + 4", "12 + 9", "7 times 6", "100 - 35", "81 / 9", "15 + 15", "2 times 50", "64 - 8"),
    ),
    (
        "Translate the word '{}' into Spanish. One word.",
        ("house", "water", "friend", "morning", "bread", "window", "river", "green"),
    ),
    (
        "Is this review positive or negative? Answer with one word.\n\n{}",
        (
            "The soup was cold and the waiter forgot our order twice.",
            "A warm, funny film; we laughed from the first scene to the last.",
            "The battery lasts two days and the screen is bright. I would buy it again.",
            "It broke in a week, and the shop would not take it back.",
            "The room was small but very clean, and the staff could not have been kinder.",
            "Two hours of my life that I will never get back.",
            "The author explains hard things in plain words, with good examples.",
            "The jacket is thin, the zip sticks, and the colour is not the one in the picture.",
        ),
    ),
    (
        "What is the opposite of '{}'? One word.",
        ("hot", "early", "brave", "narrow", "noisy", "ancient", "empty", "generous"),
    ),
    (
        "Write a title of at most eight words for an article about {}.",
        (
            "beekeeping in cities",
            "the history of tea",
            "sleep and memory",
            "electric buses",
            "learning chess late in life",
            "the repair of old clocks",
            "wild mushrooms",
            "night trains",
        ),
    ),
    (
        "In one sentence, what does a {} do?",
        (
            "librarian",
            "plumber",
            "geologist",
            "translator",
            "beekeeper",
            "nurse",
            "ship's captain",
            "judge",
        ),
    ),
    (
        "Complete this sentence with a few words: {}",
        (
            "When the rain stopped, the children",
            "The old man opened the letter and",
            "Nobody knew why the lights",
            "On the last day of summer we",
            "The dog would not leave the door because",
            "If I had one more hour each day, I",
            "The train was late, so",
            "She looked at the map and",
        ),
    ),
    (
        "What colour is {}? One word.",
        (
            "a ripe banana",
            "fresh snow",
            "grass",
            "coal",
            "a tomato",
            "the sky at noon",
            "an orange",
            "chocolate",
        ),
    ),
    (
        "Write one line of Python that {}. Only the code.",
        (
            "prints the numbers from 1 to 5",
            "reverses a string s",
            "sums a list called values",
            "opens a file called notes.txt",
            "sorts a list of names",
            "finds the largest of a, b and c",
            "counts the words in text",
            "makes a dictionary from two lists",
        ),
    ),
    (
        "Rewrite this politely in one sentence: {}",
        (
            "Send me the report now.",
            "Your music is too loud.",
            "You are late again.",
            "I do not want to come.",
            "This is wrong. Do it again.",
            "Move your car.",
            "Stop talking.",
            "You forgot to pay.",
        ),
    ),
    (
        "Is {} a fruit? Answer yes or no.",
        ("a pear", "a carrot", "a plum", "rice", "a grape", "cheese", "a lemon", "a hammer"),
    ),
    (
        "Explain in one or two short sentences: {}",
        (
            "why is the sky blue?",
            "why does ice float?",
            "what makes bread rise?",
            "how do vaccines work?",
            "why do leaves change colour?",
            "what is inflation?",
            "how does a lens form an image?",
            "why do we have leap years?",
        ),
    ),
    (
        "Summarise in one short sentence.\n\n{}",
        (
            "The town council met on Monday and agreed to close the market square to cars from "
            "May. Shop owners are worried about deliveries, but most residents who spoke at the "
            "meeting were in favour. A trial of six months comes first.",
            "Our flight left three hours late because of fog. We missed the connection in "
            "Zurich, slept on a bench, and reached Athens a day after the wedding. The bride "
            "saved us two pieces of cake.",
            "The new telescope looks at infrared light, which passes through dust. That lets it "
            "see young stars that are hidden from other instruments, and galaxies so far away "
            "that their light is stretched to the red.",
            "Maria began to run at the age of sixty. At first she could not reach the end of "
            "her street. Three years later she finished her first marathon, last of all, with "
            "her grandchildren waiting at the line.",
            "The library will be closed in August for repairs. Books that are due then may be "
            "returned in September without a fee. The reading room in the town hall stays open "
            "on weekday mornings.",
            "Sales of the bakery fell when the road in front was dug up. The owner began to "
            "deliver by bicycle, and by winter more than half of the bread was sold that way.",
            "Octopuses have three hearts and blue blood. Two of the hearts pump blood through "
            "the gills, and the third sends it to the rest of the body. The third heart stops "
            "while the animal swims, which is why it prefers to crawl.",
            "The bridge was built in 1932 and carries four times the traffic that it was made "
            "for. Engineers found cracks in two of its beams last spring. Lorries must take the "
            "tunnel until the beams are replaced.",
        ),
    ),
    (
        "Write the word '{}' in capital letters.",
        ("garden", "yellow", "winter", "copper", "island", "pencil", "forest", "mirror"),
    ),
    (
        "How many {}? Give only the number.",
        (
            "days are in a week",
            "legs has a spider",
            "months are in a year",
            "minutes are in an hour",
            "wheels has a tricycle",
            "sides has a triangle",
            "letters are in the word 'cat'",
            "players are in a football team",
        ),
    ),
)

PROMPTS: tuple[str, ...] = tuple(
    template.format(subjects[i]) for i in range(8) for template, subjects in KINDS
)
