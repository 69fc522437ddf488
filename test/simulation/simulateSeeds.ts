/** Simulates many seeds in worker processes, each in the worker that is free first. */
import { type ChildProcess, fork } from "node:child_process"
import { fileURLToPath } from "node:url"
import type { SimulationEnd } from "#test/simulation/Simulation.ts"
import { type Answer, endOf } from "#test/simulation/workerMessages.ts"

const worker = fileURLToPath(new URL("worker.ts", import.meta.url))

export interface Seeds {
  readonly first: number
  readonly count: number
  readonly workers: number
}

/** Calls `onEnd` for each seed, in the order in which they end. Fails when a worker dies in the middle of a seed. */
export const simulateSeeds = ({ count, first, workers }: Seeds, onEnd: (end: SimulationEnd) => void): Promise<void> =>
  new Promise((resolve, reject) => {
    let next = first
    let running = 0
    const give = (child: ChildProcess) => {
      if (next < first + count) return void child.send({ seed: next++ })
      child.disconnect()
    }
    for (let n = 0; n < Math.min(workers, count); n++) {
      const child = fork(worker)
      running += 1
      let isGiven = true
      child.on("message", (answer: Answer) => {
        isGiven = next < first + count
        onEnd(endOf(answer))
        give(child)
      })
      child.on("exit", (code) => {
        running -= 1
        if (isGiven && code !== 0) reject(new Error(`A worker ended with ${code} in the middle of a seed`))
        if (running === 0) resolve()
      })
      give(child)
    }
  })
