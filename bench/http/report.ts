/**
 * Prints a comparison: what each server did, then the service as a ratio to each peer. Above 1 the service is better.
 */
import { connections } from "#bench/http/generator.ts"
import type { Measured, Rounds } from "#bench/http/rounds.ts"
import { type Spread, spreadOf, spreadOfRatios } from "#bench/http/spread.ts"

const nameWidth = 64

const row = (name: string, cells: ReadonlyArray<string>): string =>
  `  ${name.padEnd(nameWidth)}${cells.map((cell) => cell.padStart(9)).join("")}`

const cells = ({ max, median, min }: Spread, digits: number) => [min, median, max].map((value) => value.toFixed(digits))

const absolutes = (servers: ReadonlyArray<Measured>): ReadonlyArray<string> =>
  servers.flatMap(({ cpuMicros, name, requestsPerSecond }) => [
    row(`${name}: requests/s`, cells(spreadOf(requestsPerSecond), 0)),
    ...(cpuMicros.length === 0 ? [] : [row(`${name}: CPU us/request`, cells(spreadOf(cpuMicros), 1))])
  ])

const ratios = (service: Measured, peer: Measured): ReadonlyArray<string> => [
  row(
    `requests/s: ${service.name} / ${peer.name}`,
    cells(spreadOfRatios(service.requestsPerSecond, peer.requestsPerSecond), 2)
  ),
  ...(peer.cpuMicros.length === 0
    ? []
    : [row(`CPU: ${peer.name} / ${service.name}`, cells(spreadOfRatios(peer.cpuMicros, service.cpuMicros), 2))])
]

/** The service comes first. */
export const report = (
  title: string,
  { rounds, seconds }: Rounds,
  [service, ...peers]: readonly [Measured, ...Array<Measured>]
): string =>
  [
    "",
    `${title}; ${connections} connections, ${rounds} interleaved rounds of ${seconds} s`,
    row("", ["min", "median", "max"]),
    ...absolutes([service, ...peers]),
    ...peers.flatMap((peer) => ratios(service, peer))
  ].join("\n")
