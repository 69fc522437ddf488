import { describe, expect, it } from "vitest"
import { drawPaths } from "#bench/http/drawPaths.ts"

const routes = [["/a"], ["/b/1", "/b/2", "/b/3"], ["/c/1", "/c/2"]]
const routeOf = (path: string) => path.slice(0, 2)

describe("drawPaths", () => {
  it("gives each route the same share of at least 100 requests", () => {
    const drawn = drawPaths(routes)
    expect(drawn.length).toBeGreaterThanOrEqual(100)
    for (const route of ["/a", "/b", "/c"]) {
      expect(drawn.filter((path) => routeOf(path) === route)).toHaveLength(drawn.length / routes.length)
    }
  })

  it("draws every path of a route", () => {
    const drawn = new Set(Array.from({ length: 50 }, () => drawPaths(routes)).flat())
    expect(drawn).toEqual(new Set(routes.flat()))
  })

  it("does not begin every connection with the same route", () => {
    const first = new Set(Array.from({ length: 200 }, () => routeOf(drawPaths(routes)[0]!)))
    expect(first.size).toBe(routes.length)
  })

  it("fills the circle of a single route", () => {
    expect(drawPaths([["/a"]])).toEqual(Array.from({ length: 100 }, () => "/a"))
  })
})
