export { decodeNoise, decodePlaces } from "../src/data";
export { Costs } from "../src/maths/costs";
export { NoiseBlur, latticeFor } from "../src/maths/noise";
export { Places } from "../src/maths/places";
export { fixesOf, follow } from "../src/maths/walk";
