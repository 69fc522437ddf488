/**
 * Crashes a scenario at each boundary that an undisturbed run of it passes, and each time lets the next process finish
 * what the dead one began. A process holds several services, each with a case of its own, and the one that finishes
 * cases begins the next ones: so there is one start for as many crashes as there are services.
 */
import { Effect } from "effect"
import { compareStates } from "#test/fault/crash/compareStates.ts"
import type { ServiceConfig, Task } from "#test/fault/crash/CrashingService.ts"
import type { FinalState } from "#test/fault/crash/finalState.ts"
import type { Message } from "#test/fault/crash/messages.ts"
import type { Begun } from "#test/fault/crash/Scenario.ts"
import { startServices } from "#test/fault/crash/startServices.ts"

/** A service without its tasks. */
export type ServiceSlot = Omit<ServiceConfig, "tasks">

export interface Setting {
  /** Slots of one scenario, as many as a process holds. */
  readonly slots: ReadonlyArray<ServiceSlot>
  /** Where Node keeps what it compiled; it makes starts cheap. */
  readonly cacheDir: string
  /** Share by which amounts may differ from those of the undisturbed run. */
  readonly share: number
  /** What is done before cases begin. */
  readonly prepare: Effect.Effect<void>
  /** Number of moments, evenly spread over the run, at which it is crashed; all of them when left out. */
  readonly sample?: number
}

export interface Matrix {
  /** Every boundary that the undisturbed run passed. */
  readonly boundaries: ReadonlyArray<string>
  /** Crashes that were made, second ones included. */
  readonly crashes: number
  /** What went otherwise than undisturbed, case by case. */
  readonly problems: ReadonlyArray<string>
}

const passed = (messages: ReadonlyArray<Message>) =>
  messages.flatMap((message) => (message._tag === "Passed" ? [message.boundary] : []))

const begunIn = (messages: ReadonlyArray<Message>): Begun | undefined =>
  messages.find((message) => message._tag === "Begun")?.begun

const endedIn = (messages: ReadonlyArray<Message>): FinalState | undefined =>
  messages.find((message) => message._tag === "Ended")?.state

const hasStopped = (messages: ReadonlyArray<Message>) => messages.some(({ _tag }) => _tag === "Stopped")

const opening = / (begins|ended, not stored|timer, not stored)$/

/**
 * A boundary that follows upon the storing of a result in the same run is the same moment: nothing happens in between.
 */
const isSameMoment = (before: string | undefined, boundary: string) =>
  before !== undefined &&
  before.endsWith(", stored") &&
  opening.test(boundary) &&
  before.split(" ")[0] === boundary.split(" ")[0]

/** The moments at which a process may die, each by the first of the boundaries that it is. */
export const momentsOf = (boundaries: ReadonlyArray<string>): ReadonlyArray<string> =>
  boundaries.filter((boundary, index) => !isSameMoment(boundaries[index - 1], boundary))

/** Picks as many of the moments as asked for, the first and the last among them. */
export const spreadOver = (moments: ReadonlyArray<string>, count: number): ReadonlyArray<string> =>
  count >= moments.length
    ? moments
    : Array.from({ length: count }, (_, n) => moments[Math.round((n * (moments.length - 1)) / Math.max(1, count - 1))]!)

/**
 * How often bytes are sent while nobody includes them, and whether an accepted run is launched again before it has
 * begun, depends on the pace of the machine; the first time never does.
 */
const doneAgain = /^(sending to .*|sent to .*, unheard|\S+ launched, (not )?stored) \(\d+\)$/

/**
 * Says whether recoveries are crashed as well: in the first round and every eighth, that of the nth service at the nth
 * boundary that it passes.
 */
const hasSecondCrashes = (round: number) => round % 8 === 0

/** How often a moment is tried once more that a run did not come to. */
const maxRepetitions = 3

/** Timers of a run that were not seen asleep: the moment is a short one, and a busy machine may not see it in time. */
const unseen = (boundaries: ReadonlyArray<string>): number => {
  const [timer, asleep] = [" timer, stored", " asleep"]
  const known = new Set(boundaries)
  return boundaries.filter((one) => one.endsWith(timer) && !known.has(one.replace(timer, asleep))).length
}

/**
 * Which of two undisturbed runs is crashed: the one that hid less. Of equal ones the shorter, since on a busy machine a
 * run may wait longer, and passes more boundaries because of that alone.
 */
const byDetail = (a: ReadonlyArray<string>, b: ReadonlyArray<string>): number =>
  unseen(a) - unseen(b) || a.length - b.length

/** What a crash left in a slot. */
interface Dead {
  readonly at: string
  readonly begun: Begun
  /** Boundary of its recovery at which it is crashed once more; undefined when it is not. */
  readonly again: number | undefined
}

export const runMatrix = Effect.fnUntraced(function* ({ cacheDir, slots, prepare, sample, share }: Setting) {
  /** Gives slots their tasks; those without any rest. Answers the messages of each slot. */
  const run = Effect.fnUntraced(function* (tasks: ReadonlyArray<ReadonlyArray<Task>>) {
    const busy = slots.flatMap((slot, index) => {
      const own = tasks[index] ?? []
      return own.length === 0 ? [] : [{ index, config: { ...slot, tasks: own } }]
    })
    const messages = slots.map((): ReadonlyArray<Message> => [])
    if (busy.length === 0) return messages
    const answers = yield* Effect.promise(() =>
      startServices(
        busy.map(({ config }) => config),
        cacheDir
      )
    )
    busy.forEach(({ index }, position) => (messages[index] = answers[position]!))
    return messages
  })

  yield* prepare
  const untouched = yield* run(slots.map(() => [{ _tag: "Begin" }]))
  const [first] = untouched.toSorted((a, b) => byDetail(passed(a), passed(b)))
  const undisturbed = endedIn(first!)!
  const boundaries = passed(first!)
  const problems = untouched
    .flatMap((messages) => compareStates(undisturbed, endedIn(messages)!, share))
    .map((problem) => `Undisturbed: ${problem}`)
  const missed: Array<string> = []
  let dead: ReadonlyArray<Dead | undefined> = []
  let crashes = 0

  /** Crashes the recoveries that are to be crashed. */
  const crashAgain = Effect.gen(function* () {
    const messages = yield* run(
      slots.map((_, index) => {
        const again = dead[index]?.again
        return again === undefined ? [] : [{ _tag: "End", begun: dead[index]!.begun, doom: { after: again } }]
      })
    )
    crashes += messages.filter(hasStopped).length
  })

  /** Finishes what the last crashes left, and crashes at the next moments. */
  const round = Effect.fnUntraced(function* (moments: ReadonlyArray<string>, isAgain: boolean) {
    if (dead.some((one) => one?.again !== undefined)) yield* crashAgain
    yield* prepare
    const messages = yield* run(
      slots.map((_, index): ReadonlyArray<Task> => {
        const [left, at] = [dead[index], moments[index]]
        return [
          ...(left === undefined ? [] : [{ _tag: "End", begun: left.begun } as const]),
          ...(at === undefined ? [] : [{ _tag: "Begin", doom: { at } } as const])
        ]
      })
    )
    dead.forEach((left, index) => {
      if (left === undefined) return
      const state = endedIn(messages[index]!)
      const found = state === undefined ? ["it did not end"] : compareStates(undisturbed, state, share)
      const second = left.again === undefined ? "" : `, and at boundary ${left.again} of its recovery`
      problems.push(...found.map((problem) => `Crashed at "${left.at}"${second}: ${problem}`))
    })
    dead = moments.map((at, index) => {
      if (hasStopped(messages[index]!))
        return { at, begun: begunIn(messages[index]!)!, again: isAgain ? index + 1 : undefined }
      missed.push(at)
      return undefined
    })
    crashes += dead.filter((left) => left !== undefined).length
  })

  const inRounds = Effect.fnUntraced(function* (moments: ReadonlyArray<string>) {
    for (let done = 0; done < moments.length; done += slots.length)
      yield* round(moments.slice(done, done + slots.length), hasSecondCrashes(done / slots.length))
  })

  const moments = momentsOf(boundaries)
  yield* inRounds(sample === undefined ? moments : spreadOver(moments, sample))
  // What depends on how fast the machine is may be passed at another try.
  for (let again = 1; again <= maxRepetitions; again++)
    yield* inRounds(missed.splice(0).filter((at) => again === 1 || !doneAgain.test(at)))
  yield* round([], false)
  const unexplained = missed.filter((at) => !doneAgain.test(at))
  if (unexplained.length > 0) {
    yield* prepare
    // A busy machine makes a run wait, and what follows from waiting is nothing that every run comes to.
    const later = (yield* run(slots.map(() => [{ _tag: "Begin" }]))).map(passed)
    const always = unexplained.filter((at) => later.every((boundaries) => boundaries.includes(at)))
    problems.push(...always.map((at) => `No run came to "${at}" but the undisturbed ones`))
  }
  return { boundaries, crashes, problems } satisfies Matrix
})
