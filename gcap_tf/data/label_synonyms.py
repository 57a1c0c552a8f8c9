"""What detectors call things, and what captions call them; written by hand.

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

# What a thing is a kind of, or stands for, the nearest first: "name: wider word, ...".
_WIDER = """
traffic light: light, sign, pole
fire hydrant: hydrant, pole, object
parking meter: meter, pole, machine
bench: seat, chair
bird: animal
elephant: animal
bear: animal
zebra: animal
giraffe: animal
lion: animal
tiger: animal
monkey: animal
deer: animal
goat: sheep, animal
goose: bird, animal
seagull: bird
parrot: bird
eagle: bird
chicken: bird, food
frisbee: disc, toy
disc: toy
skis: ski, equipment
kite: toy, flag
baseball glove: glove
fork: utensil, tool, object
spoon: utensil, tool, object
knife: tool, object
bowl: dish, container
banana: fruit, food
apple: fruit, food
orange: fruit, food
grape: fruit, food
strawberry: fruit, food
lemon: fruit, food
sandwich: food
broccoli: vegetable, food
carrot: vegetable, food
tomato: vegetable, food
salad: vegetable, food
hot dog: food
hotdog: food
hamburger: food
pizza: food
donut: food
doughnut: food
cookie: food
bread: food
cheese: food
egg: food
fries: food
pasta: food
soup: food
toilet: seat
toilet paper: paper
mouse: computer mouse, device
computer mouse: device, object
remote: device, object
remote control: device, object
computer monitor: screen, computer
tablet computer: computer, device
microwave: machine, object
microwave oven: machine, object
oven: machine, object
stove: grill, machine
toaster: machine, object
sink: counter, object
bathtub: tube
refrigerator: machine, object
fridge: machine, object
book: magazine, object
clock: object
watch: object
bracelet: object
earring: necklace
vase: pot, container
scissors: tool
teddy bear: toy
teddy: toy
doll: toy
stuffed animal: toy
hair drier: device, object
hair dryer: device, object
toothbrush: brush, object
camera: device
printer: machine
radio: device
trash can: container, bucket
trash bin: container, bucket
garbage can: container, bucket
waste container: container, bucket
barrel: container
bin: container
can: container, drink
jar: container
tray: plate, container
napkin: paper, cloth
curtain: cloth, fabric
tablecloth: cloth, table
rug: mat, floor
carpet: mat, floor
cushion: pillow
shelf: counter
bookcase: shelf
cabinet: counter
cupboard: counter
drawer: desk
counter: table
bar: counter
ladder: equipment
hammer: tool
wrench: tool
drill: tool
land vehicle: vehicle, car
bus: vehicle
taxi: car
ambulance: van, vehicle
limousine: car
tank: vehicle
helicopter: airplane
cart: vehicle
jet ski: boat
snowmobile: vehicle
wheelchair: chair
surfer: person
skier: person
bride: woman
groom: man
chef: person
waiter: person
doctor: person
dancer: person
singer: person
soldier: man
worker: person
cowboy: man
human face: face
human head: head
human hair: hair
human arm: arm
human hand: hand
human leg: leg
human foot: foot
human eye: eye
human ear: ear
human mouth: mouth
human nose: nose
human beard: beard
eyebrow: face
skirt: dress
miniskirt: skirt
kimono: robe
dress: clothing
scarf: clothing
glove: clothing
belt: clothing
vest: clothing
apron: clothing
fur: hair
mane: hair
snowman: sculpture, statue, figure
sandcastle: sand, sculpture
roof: building, house
chimney: roof
sail: boat
balcony: building
window: building
window blind: window
mirror: glass
fountain: water
waterfall: water
wave: water
swimming pool: pool
ceiling: wall
wall: building
brick wall: wall
floor: surface
cloud: sky
sun: sky
moon: sky
tennis court: court
basketball court: court
ski slope: slope
playground: park
garden: yard, park
farm: field
park bench: bench
picnic table: table
flag: banner
banner: sign
traffic cone: cone
parachute: balloon
hot air balloon: balloon
musical instrument: instrument
violin: instrument
saxophone: instrument
trumpet: instrument
flute: instrument
cello: violin, instrument
accordion: instrument
harp: instrument
trombone: trumpet, instrument
barbecue: grill
bow and arrow: weapon
candle: light
cigarette: object
pen: tool, object
pencil: tool, object
broom: tool
shovel: tool
bucket: container
tripod: stand, equipment
treadmill: machine, equipment
dumbbell: equipment
punching bag: bag
weapon: object
tool: object
toy: object
device: object
container: object
equipment: gear
fruit: food
vegetable: food
vehicle: machine
structure: building
"""


@functools.cache
def table() -> dict[str, tuple[str, ...]]:
  """Name -> the words to try instead, in order."""
  found: dict[str, list[str]] = {}
  for line in _SAME.strip().splitlines():
    names = [name.strip() for name in line.split(",")]
    for name in names:
      found.setdefault(name, []).extend(other for other in names if other != name)
  wider: dict[str, list[str]] = {}
  for line in _WIDER.strip().splitlines():
    name, _, others = line.partition(":")
    wider[name.strip()] = [other.strip() for other in others.split(",")]
  for name, others in wider.items():
    found.setdefault(name, []).extend(others)
  return {name: tuple(dict.fromkeys(others)) for name, others in found.items()}


def candidates(name: str) -> tuple[str, ...]:
  """Words to try instead of a lower-case name; () where nothing is known."""
  return table().get(name, ())
