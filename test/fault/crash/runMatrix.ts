/**
 * Crashes a scenario at each boundary that an undisturbed run of it passes, and each time lets the next process finish what
 * the dead one began. One process finishes a case and begins the next, so there is one start for each crash.
 */
import { compareStates } from "#test/fault/crash/compareStates.ts"
import { runService } from "#test/fault/crash/CrashingProcess.ts"
import type { ServiceConfig, Task } from "#test/fault/crash/CrashingService.ts"
import type { FinalState } from "#test/fault/crash/finalState.ts"
import type { Message } from "#test/fault/crash/messages.ts"
import type { Begun } from "#test/fault/crash/Scenario.ts"

export interface Setting extends Omit<ServiceConfig, "tasks"> {
  /** Where Node keeps what it compiled; it makes starts cheap. */
  readonly cacheDir: string
  /** By how large a share amounts may differ from those of the undisturbed run. */
  readonly share: number
}

export interface Matrix {
  /** Every boundary that the undisturbed run passed. */
  readonly boundaries: ReadonlyArray<string>
  /** Crashes that were made, second ones included. */
  readonly crashes: number
  /** What went otherwise than undisturbed, case by case. */
  readonly problems: ReadonlyArray<string>
}

/** One moment at which the process dies, by the first of the boundaries that it is. */
interface Case {
  readonly at: string
  /** Of the recovery: the process dies once more at the boundary that it passes then as the nth. */
  readonly again: number | undefined
}

const passed = (messages: ReadonlyArray<Message>) =>
  messages.flatMap((message) => (message._tag === "Passed" ? [message.boundary] : []))

const begunIn = (messages: ReadonlyArray<Message>): Begun | undefined =>
  messages.find((message) => message._tag === "Begun")?.begun

const endedIn = (messages: ReadonlyArray<Message>): FinalState | undefined =>
  messages.find((message) => message._tag === "Ended")?.state

/** Every third recovery is crashed as well, at its first, second or third boundary in turn. */
const again = (index: number) => (index % 3 === 0 ? 1 + ((index / 3) % 3) : undefined)

const opening = / (begins|ended, not stored|timer, not stored)$/

/** A boundary that follows upon the storing of a result in the same run is the same moment: nothing happens in between. */
const isSameMoment = (before: string | undefined, boundary: string) =>
  before !== undefined &&
  before.endsWith(", stored") &&
  opening.test(boundary) &&
  before.split(" ")[0] === boundary.split(" ")[0]

export const casesOf = (boundaries: ReadonlyArray<string>): ReadonlyArray<Case> =>
  boundaries
    .filter((boundary, index) => !isSameMoment(boundaries[index - 1], boundary))
    .map((at, index) => ({ at, again: again(index) }))

export const runMatrix = async ({ cacheDir, share, ...setting }: Setting): Promise<Matrix> => {
  const run = (tasks: ReadonlyArray<Task>) => runService({ ...setting, tasks }, cacheDir)
  const first = await run([{ _tag: "Begin" }])
  const undisturbed = endedIn(first.messages)!
  const boundaries = passed(first.messages)
  const problems: Array<string> = compareStates(undisturbed, undisturbed, share).map(
    (problem) => `Undisturbed: ${problem}`
  )
  let crashes = 0

  const check = (crashed: Case, state: FinalState | undefined) => {
    const found = state === undefined ? ["it did not end"] : compareStates(undisturbed, state, share)
    const second = crashed.again === undefined ? "" : `, and again ${crashed.again} later`
    problems.push(...found.map((problem) => `Crashed at "${crashed.at}"${second}: ${problem}`))
  }

  const missed: Array<Case> = []
  let dead: { readonly crashed: Case; readonly begun: Begun } | undefined

  /** Finishes what the last crash left, if any, and goes on to the next one. */
  const step = async (next: Case | undefined) => {
    if (dead?.crashed.again !== undefined) {
      const recovery = await run([{ _tag: "End", begun: dead.begun, doom: { after: dead.crashed.again } }])
      if (recovery.isKilled) crashes += 1
    }
    const { isKilled, messages } = await run([
      ...(dead === undefined ? [] : [{ _tag: "End", begun: dead.begun } as const]),
      ...(next === undefined ? [] : [{ _tag: "Begin", doom: { at: next.at } } as const])
    ])
    if (dead !== undefined) check(dead.crashed, endedIn(messages))
    dead = undefined
    if (next === undefined) return
    if (!isKilled) return void missed.push(next)
    crashes += 1
    dead = { crashed: next, begun: begunIn(messages)! }
  }

  for (const next of casesOf(boundaries)) await step(next)
  // What depends on how fast the machine is may be passed at the second try.
  for (const next of missed.splice(0)) await step(next)
  await step(undefined)
  problems.push(...missed.map(({ at }) => `No run came to "${at}" but the undisturbed one`))
  return { boundaries, crashes, problems }
}
