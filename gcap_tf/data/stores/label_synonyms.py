"""Names that detectors give to things, and words that captions use for them; written by hand.

Covers the 80 classes of COCO and frequent names of Open Images, LVIS, Visual Genome and drawn
scenes. `candidates` gives the words to try instead of one, the nearest in meaning first.
"""

import functools

# One thing under several names, a line each.
_SAME = """
sofa, couch, loveseat, settee
cell phone, cellphone, mobile phone, smartphone, phone, telephone, iphone, mobile
tv, television, tvmonitor, tv monitor, monitor, screen, display
bicycle, bike, cycle
motorcycle, motorbike, motor bike, moped
airplane, aeroplane, plane, aircraft, jet, airliner
car, automobile, sedan, suv, jeep, taxi, cab
train, locomotive, subway
boat, ship, sailboat, yacht, rowboat, watercraft, vessel
canoe, kayak
truck, lorry, pickup
van, minivan
fire engine, firetruck, fire truck
stroller, pram, pushchair, baby carriage
bag, handbag, purse, pocketbook
backpack, rucksack, back pack, knapsack
suitcase, luggage, baggage
cup, mug, coffee cup, teacup
glass, wine glass, drinking glass
drink, beverage, soda, juice, tea
alcohol, beer, wine
dish, plate, platter, saucer
bandanna, bandana
counter, countertop
table, dining table, diningtable, coffee table, kitchen & dining room table, desk, tabletop
chair, armchair, seat, recliner
stool, footstool, ottoman
laptop, notebook, computer, laptop computer
tie, necktie, neck tie, bow tie, bowtie
shirt, t-shirt, tshirt, tee shirt, undershirt, jersey, tank top
blouse, top, shirt
pants, trousers, slacks, sweatpants, leggings, tights
jeans, jean, denim, pants
shorts, short pants, swim trunks
sweater, jumper, pullover, cardigan, sweatshirt, hoodie
jacket, coat, blazer, raincoat, parka
suit, tuxedo
swimsuit, bathing suit, swimwear, bikini
wetsuit, wet suit
outfit, attire, garb, costume, clothing, clothes, apparel
hat, cap, baseball cap, ball cap, beanie, cowboy hat, sun hat, fedora
helmet, bicycle helmet, football helmet
sunglass, sunglasses, glasses, eyeglasses, spectacles, shades
goggles, ski goggles
shoe, footwear, sneaker, tennis shoe, trainer, high heels, slipper
sandal, flip flop
boot, ski boot
mustache, moustache
person, human, human being, individual, someone, people
man, male, guy, gentleman, fellow
woman, female, lady
boy, young boy
girl, young girl, little girl
child, kid, youngster, children
baby, infant, newborn, toddler
teenager, teen, youth, adolescent
policeman, police officer, officer, cop, police
fireman, firefighter
cyclist, bicyclist, biker
audience, crowd, spectator, onlooker
goalie, goalkeeper, goal keeper
athlete, player, sportsman, soccer player, baseball player, tennis player
musician, performer, band member
dog, puppy, pup, hound
cat, kitten, kitty
cow, cattle, ox, calf
bull, ox, cow
sheep, lamb, ram
horse, pony, foal
duck, goose, swan
pigeon, dove
street, road, roadway, highway, driveway, asphalt
sidewalk, pavement, walkway, footpath, boardwalk
path, trail, pathway, dirt road
stair, staircase, stairs, stairway, steps, step
fence, railing, rail, fencing, barrier, guard rail
house, home, cottage, cabin, hut, shack
building, skyscraper, apartment, tower, office building, castle
shop, store, storefront, convenience store
door, doorway, entrance, gate
ocean, sea, water
lake, pond, water
river, stream, creek, canal
beach, shore, sand, shoreline, coast
field, meadow, pasture, grass field, grassland, soccer field, baseball field
grass, lawn, turf
hill, hillside, slope, mountainside
mountain, mountain range, peak
forest, wood, woods, jungle
dirt, ground, soil, earth, mud
rock, boulder, stone
tree, palm tree, pine tree, pine, palm, christmas tree
bush, shrub, hedge
plant, houseplant, potted plant, pottedplant, foliage, vegetation
flower, bouquet, rose, tulip, sunflower
sign, stop sign, street sign, traffic sign, billboard, signboard
light, lamp, traffic light, street light, streetlight, lantern, spotlight, stoplight, headlight
pole, post, lamp post, light pole, telephone pole, street pole
microphone, mic
headphone, earphone, earbud, headphones
picture, photo, photograph, image
poster, placard
racket, racquet, tennis racket, tennis racquet, badminton racket, paddle
bat, baseball bat, cricket bat
glove, baseball glove, mitt, baseball mitt, boxing glove
ball, sports ball, soccer ball, tennis ball, rugby ball, volleyball, golf ball, beach ball
surfboard, surf board, bodyboard
snowboard, snow board
ski, skis
skateboard, longboard
scooter, kick scooter
skater, ice skater, roller skater
sled, sledge, sleigh
swing, swing set
net, goal net
goal, goalpost
stick, hockey stick, ski pole, rod
knife, blade, cutter
box, carton, crate, cardboard box, package
basket, hamper
bottle, flask, water bottle, beer bottle
pot, kettle, cauldron, teapot
pan, frying pan, skillet, wok
cake, birthday cake, cupcake, dessert
food, meal, snack, lunch, dinner, breakfast
umbrella, parasol
blanket, quilt, comforter, bedspread
bed, mattress, infant bed, crib
towel, hand towel, washcloth
cart, shopping cart, wagon, trolley
carriage, buggy
tire, tyre
machine, appliance, device
gun, rifle, weapon, handgun, shotgun
sword, dagger
statue, sculpture, monument, figurine
rope, cord, cable
wire, cable, power line
paper, document, page
newspaper, paper
drum, drums, drum kit
guitar, acoustic guitar, electric guitar
piano, keyboard, musical keyboard
computer keyboard, keyboard
tent, canopy, gazebo
pool, swimming pool
bridge, overpass
pier, dock, jetty
wheel, bicycle wheel
"""

# What a thing is a kind of, or stands for, the nearest first: "name, ...: wider word, ...".
_WIDER = """
traffic light: light, sign, pole
fire hydrant: hydrant, object, pole
parking meter: meter, machine, pole
bench: seat, chair
bird, elephant, bear, zebra, giraffe, lion, tiger, monkey, deer: animal
goat: sheep, animal
goose: bird, animal
seagull, parrot, eagle: bird
chicken: bird, food
frisbee: disc, toy
disc, teddy bear, teddy, doll, stuffed animal: toy
skis: ski, equipment
kite: toy, flag
baseball glove: glove
fork, spoon: utensil, tool, object
knife, pen, pencil: tool, object
bowl: dish, container
banana, apple, orange, grape, strawberry, lemon: fruit, food
sandwich, hot dog, hotdog, hamburger, pizza, donut, doughnut, cookie, bread, cheese, egg: food
fries, pasta, soup, fruit, vegetable: food
broccoli, carrot, tomato, salad: vegetable, food
toilet: seat
toilet paper: paper
mouse: computer mouse, device
computer mouse, remote, remote control, hair drier, hair dryer: device, object
computer monitor: screen, computer
tablet computer: computer, device
microwave, microwave oven, oven, toaster, refrigerator, fridge: machine, object
stove: grill, machine
sink: counter, object
book: magazine, object
clock, watch, bracelet, cigarette, weapon, tool, toy, device, container: object
vase: pot, container
scissors, hammer, wrench, drill, broom, shovel: tool
toothbrush: brush, object
camera, radio: device
printer, vehicle: machine
trash can, trash bin, garbage can, waste container: container, bucket
barrel, bin, jar, bucket: container
can: container, drink
tray: plate, container
napkin: paper, cloth
curtain: cloth, fabric
tablecloth: cloth, table
rug, carpet: mat, floor
cushion: pillow
shelf, cabinet, cupboard, bar: counter
bookcase: shelf
drawer: desk
counter, picnic table: table
ladder, dumbbell: equipment
land vehicle: vehicle, car
bus, cart, snowmobile: vehicle
taxi, limousine: car
ambulance: van, vehicle
helicopter: airplane
jet ski, sail: boat
wheelchair: chair
surfer, skier, chef, waiter, doctor, dancer, singer, worker: person
bride: woman
groom, soldier, cowboy: man
human face, eyebrow: face
human head: head
human hair, fur, mane: hair
human arm: arm
human hand: hand
human leg: leg
human foot: foot
human eye: eye
human ear: ear
human mouth: mouth
human nose: nose
human beard: beard
skirt: dress
miniskirt: skirt
kimono: robe
dress, scarf, glove, belt, vest, apron: clothing
snowman: sculpture, statue, figure
sandcastle: sand, sculpture
roof: building, house
chimney: roof
balcony, window, wall, structure: building
window blind: window
mirror: glass
fountain, waterfall, wave: water
swimming pool: pool
ceiling, brick wall: wall
floor: surface
cloud, sun, moon: sky
tennis court, basketball court: court
ski slope: slope
playground: park
garden: yard, park
farm: field
park bench: bench
flag: banner
banner: sign
traffic cone: cone
parachute, hot air balloon: balloon
musical instrument, violin, saxophone, trumpet, flute, accordion, harp: instrument
cello: violin, instrument
trombone: trumpet, instrument
barbecue: grill
bow and arrow: weapon
candle: light
tripod: stand, equipment
treadmill: machine, equipment
punching bag: bag
equipment: gear
donkey: horse, animal
ostrich, flamingo: bird, animal
panda, antelope, stuffed bear: toy, animal
batter, catcher: player, person
umpire: referee, person
pilot, conductor: worker, person
burger, pie, bagel, bacon, sausage, rice, chips, muffin, pastry, pancake, toast, beef, ham: food
corn, cabbage, lettuce, onion, mushroom, cucumber, pepper, potato, bean: vegetable, food
pear, pineapple, watermelon, melon, mango, cherry, blueberry, berry, peach: fruit, food
utensil, silverware, spatula, brush: tool, object
nightstand, dresser, counter top: table, counter
furniture: chair, object
bookshelf: shelf, counter
sheet, bedding: blanket, cloth
string: rope
jug: pitcher, container
cardboard: box
trailer: vehicle, truck
brick: wall
tile: floor
patio, courtyard: yard
bathroom, bedroom, living room, hallway, office: room
weed, fern, ivy, vine: plant, grass
wallet: purse
visor, crown, hood: hat
oar: stick
speaker, stereo: equipment, device
bleachers: stand, seat
trashcan, dumpster, bath tub, tub: container, object
blinds, drape: curtain, window
wristwatch: object
"""


@functools.cache
def table() -> dict[str, tuple[str, ...]]:
  """Name -> the words to try instead, in order."""
  found: dict[str, list[str]] = {}
  for line in _SAME.strip().splitlines():
    names = [name.strip() for name in line.split(",")]
    for name in names:
      found.setdefault(name, []).extend(other for other in names if other != name)
  for line in _WIDER.strip().splitlines():
    names, _, others = line.partition(":")
    for name in names.split(","):
      wider = [other.strip() for other in others.split(",")]
      found.setdefault(name.strip(), []).extend(wider)
  return {name: tuple(dict.fromkeys(others)) for name, others in found.items()}


def candidates(name: str) -> tuple[str, ...]:
  """Words to try instead of a lower-case name; () if none is known."""
  return table().get(name, ())
