/** Suites that run with the emulated Swig program, and with the program itself where its bytes are given. */
import { describe } from "@effect/vitest"
import { readFileSync } from "node:fs"
import type { Emulation } from "#sandbox/solana/Emulation.ts"
import { startTestChain, type TestChain } from "#test/sandbox/solana/support.ts"

export type StartChain = (emulations?: ReadonlyMap<string, Emulation>) => Promise<TestChain>

const path = process.env["SWIG_PROGRAM_SO"]

/** `suite` starts its chain by what it is given. Without `SWIG_PROGRAM_SO` the second run is reported as skipped. */
export const eachSwig = (name: string, suite: (start: StartChain) => void): void => {
  describe(`${name}, with the emulated Swig program`, () =>
    suite((emulations = new Map()) => startTestChain({ emulations })))
  const title =
    path === undefined
      ? `${name}, with the Swig program itself (skipped: SWIG_PROGRAM_SO names no program)`
      : `${name}, with the Swig program itself`
  describe.skipIf(path === undefined)(title, () =>
    suite((emulations = new Map()) => startTestChain({ emulations, swigProgram: Uint8Array.from(readFileSync(path!)) }))
  )
}
