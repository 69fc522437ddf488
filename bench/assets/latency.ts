/** How long one caller waits for an answer over HTTP, in interleaved rounds over all servers. */
import { Effect } from "effect"
import type { Server } from "#bench/http/Server.ts"

const rounds = 12

export const percentile = (values: ReadonlyArray<number>, percent: number): number => {
  const sorted = values.toSorted((a, b) => a - b)
  return sorted[Math.min(sorted.length - 1, Math.ceil((sorted.length * percent) / 100) - 1)] ?? Number.NaN
}

export const latency = Effect.fnUntraced(function* (
  name: string,
  servers: ReadonlyArray<Server>,
  paths: ReadonlyArray<string>
) {
  const millis = new Map(servers.map((server) => [server.name, [] as Array<number>]))
  for (let round = 0; round < rounds; round += 1) {
    for (const path of paths) {
      for (const server of servers) {
        const start = performance.now()
        yield* Effect.promise(async () => (await fetch(`${server.baseUrl}${path}`)).text())
        if (round >= 2) millis.get(server.name)!.push(performance.now() - start)
      }
    }
  }
  return [
    "",
    `${name}: one caller over HTTP, ${(rounds - 2) * paths.length} requests each`,
    ...[...millis].map(
      ([server, values]) =>
        `  ${server.padEnd(44)} p50 ${percentile(values, 50).toFixed(2)} ms   p99 ${percentile(values, 99).toFixed(2)} ms`
    )
  ].join("\n")
})
