import { Effect } from "effect"
import { createServer, type AddressInfo } from "node:net"
import { SandboxFailure } from "#sandbox/SandboxFailure.ts"

/** A loopback port that was free a moment ago. Whoever takes it must still be ready to find it taken. */
export const freePort: Effect.Effect<number, SandboxFailure> = Effect.callback((resume) => {
  const server = createServer()
  server.once("error", (cause) =>
    resume(Effect.fail(new SandboxFailure({ message: "No loopback port could be opened on 127.0.0.1", cause })))
  )
  server.listen(0, "127.0.0.1", () => {
    const { port } = server.address() as AddressInfo
    server.close(() => resume(Effect.succeed(port)))
  })
})

/** Fails when nobody could listen on the port, naming the variable that moves it. */
export const requirePort = (port: number, variable: string): Effect.Effect<void, SandboxFailure> =>
  Effect.callback((resume) => {
    const server = createServer()
    server.once("error", (cause) =>
      resume(
        Effect.fail(
          new SandboxFailure({
            message: `Port ${port} (${variable}) cannot be used: another program has it. Stop that program or set ${variable} to a free port`,
            cause
          })
        )
      )
    )
    server.listen(port, "127.0.0.1", () => server.close(() => resume(Effect.void)))
  })
