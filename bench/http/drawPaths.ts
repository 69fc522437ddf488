/** What one connection of the load generator asks for. */
import { randomInt } from "node:crypto"

/** Minimum number of paths that are asked for in a circle. Making their requests costs time at the start of a round. */
const pathsPerConnection = 100

/**
 * Paths drawn at random, route by route in turn, so that each route has exactly the same share. The first route is
 * drawn too, so that the connections do not ask for the same route at the same time.
 */
export const drawPaths = (routes: ReadonlyArray<ReadonlyArray<string>>): ReadonlyArray<string> => {
  const first = randomInt(routes.length)
  const length = Math.ceil(pathsPerConnection / routes.length) * routes.length
  return Array.from({ length }, (_, index) => {
    const paths = routes[(first + index) % routes.length]!
    return paths[randomInt(paths.length)]!
  })
}
