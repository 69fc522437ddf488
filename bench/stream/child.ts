/** A program of this benchmark as a process of its own, asked and answered one thing at a time. */
import { fork } from "node:child_process"
import { join } from "node:path"
import type { LoadAnswer, LoadOrder, ServerAnswer, ServerOrder } from "#bench/stream/wire.ts"

type Order = LoadOrder | ServerOrder
type Answer = LoadAnswer | ServerAnswer

export const startChild = async (program: string, flags: ReadonlyArray<string> = []) => {
  const child = fork(join(import.meta.dirname, `${program}.ts`), [], { execArgv: ["--expose-gc", ...flags] })
  const next = <Kind extends Answer["is"]>(is: Kind) =>
    new Promise<Extract<Answer, { is: Kind }>>((resolve, reject) => {
      const ended = (code: number | null) => reject(new Error(`${program} ended with ${code}`))
      child.once("exit", ended)
      const heard = (answer: Answer) => {
        if (answer.is !== is) return
        child.off("message", heard)
        child.off("exit", ended)
        resolve(answer as Extract<Answer, { is: Kind }>)
      }
      child.on("message", heard)
    })
  return {
    next,
    ask: <Kind extends Answer["is"]>(order: Order, is: Kind) => {
      const answer = next(is)
      child.send(order)
      return answer
    },
    stop: () =>
      new Promise<void>((resolve) => {
        if (child.exitCode !== null || child.signalCode !== null) return resolve()
        child.once("exit", () => resolve())
        child.kill("SIGKILL")
      })
  }
}
export type Child = Awaited<ReturnType<typeof startChild>>

export const startServer = async (program: string, flags: ReadonlyArray<string> = []) => {
  const child = await startChild(program, flags)
  const { path, port } = await child.next("ready")
  return { child, path, port }
}
