import { Effect } from "effect"
import { randomInt } from "node:crypto"
import { createServer } from "node:net"
import { SandboxFailure } from "#sandbox/SandboxFailure.ts"

/**
 * Range of ports below those that systems give to outgoing connections (from 32,768 on): a process that starts anew
 * finds its port free, and not taken by a connection of somebody else's. Source: Linux, `ip_local_port_range`; IANA
 * begins at 49,152.
 */
const [lowest, beyond] = [10_000, 32_768]
const attempts = 50

/** Listens on the port for a moment; fails with the system's reason when nobody can. */
const probe = (port: number) =>
  Effect.callback<void, Error>((resume) => {
    const server = createServer()
    server.once("error", (cause) => resume(Effect.fail(cause)))
    server.listen(port, "127.0.0.1", () => server.close(() => resume(Effect.void)))
  })

/** A loopback port that was free a moment ago. Whoever takes it must still be ready to find it taken. */
export const freePort: Effect.Effect<number, SandboxFailure> = Effect.gen(function* () {
  for (let tried = 0; tried < attempts; tried += 1) {
    const port = randomInt(lowest, beyond)
    if (yield* Effect.isSuccess(probe(port))) return port
  }
  return yield* new SandboxFailure({
    message: `No free loopback port was found in ${attempts} tries from ${lowest} to ${beyond - 1}; end programs that listen on 127.0.0.1`
  })
})

/** Nobody can listen on the port; names the variable that moves it. */
export const portTaken = (port: number, variable: string, cause: unknown) =>
  new SandboxFailure({
    message: `Port ${port} (${variable}) cannot be used: another program has it. Stop that program or set ${variable} to a free port`,
    cause
  })

/** Fails with `portTaken` when nobody could listen on the port. */
export const requirePort = (port: number, variable: string): Effect.Effect<void, SandboxFailure> =>
  probe(port).pipe(Effect.mapError((cause) => portTaken(port, variable, cause)))
