/** The README's picture: what it shows of the demo's output, and that docs/demo.svg is one. */
import { assert, describe, it } from "@effect/vitest"
import { readFileSync } from "node:fs"
import { drawDemo, shownLines } from "#scripts/drawDemo.ts"

const output = [
  "",
  "\u001B[1mEnroll\u001B[22m",
  "  ✓ Stage 2                       0x0307346DBbAa4e7dB41d15E734ACD2c3Dfe99Bd5",
  "",
  "Fund and rebalance",
  "  8453    USDC  ██│·· on target",
  "  total $1 & more",
  "",
  "Follow the market"
].join("\n")

describe("the picture of the demo", () => {
  it("goes from the first heading to the first total, without colours of a terminal and with hashes cut", () =>
    assert.deepStrictEqual(shownLines(output), [
      "Enroll",
      "  ✓ Stage 2                       0x0307346D…",
      "",
      "Fund and rebalance",
      "  8453    USDC  ██│·· on target",
      "  total $1 & more"
    ]))

  it("is text that XML allows, with its spaces", () => {
    const svg = drawDemo(output)
    assert.include(svg, "$1 &amp; more")
    assert.include(svg, "8453\u00a0\u00a0\u00a0\u00a0USDC")
    assert.notMatch(svg, /&(?!amp;|lt;|gt;)/u)
  })

  it("is not made of an output that ended before", () => {
    assert.throws(() => drawDemo("Enroll\n  failed"), /no output of a demo/u)
    assert.throws(() => drawDemo(`Enroll\n${"x".repeat(200)}\n  total $1`), /wider than the picture/u)
  })

  it("docs/demo.svg shows a whole demo, and is small", () => {
    const svg = readFileSync(new URL("../../docs/demo.svg", import.meta.url), "utf8")
    assert.include(svg, ">Fund and rebalance<")
    assert.match(svg, /on target<\/tspan>/u)
    assert.isBelow(svg.length, 20_000)
  })
})
