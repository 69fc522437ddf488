import { describe, expect, it } from "vitest"
import { cpuSeconds, parseStat } from "#bench/http/rounds.ts"

const rest = "S 1 42 42 0 -1 4194304 900 0 0 0 1234 66 0 0 20 0 11 0 5000 1000000 900"

describe("parseStat", () => {
  it("adds user and system time", () => {
    expect(parseStat(`42 (node) ${rest}\n`)).toBe(13)
  })

  it("is not confused by a program's name", () => {
    expect(parseStat(`42 (a) b (c) 7 8) ${rest}\n`)).toBe(13)
  })

  it("refuses anything else", () => {
    expect(() => parseStat("no such process")).toThrow("Not a line of /proc")
  })
})

describe("cpuSeconds", () => {
  it.runIf(process.platform === "linux")("reads a process's own time", () => {
    const before = cpuSeconds(process.pid)!
    const giveUpAt = performance.now() + 10_000
    while (cpuSeconds(process.pid)! < before + 0.05 && performance.now() < giveUpAt);
    expect(cpuSeconds(process.pid)!).toBeGreaterThanOrEqual(before + 0.05)
  })
})
