/**
 * Whether each endpoint answers, for the right chain, not behind, and all that is asked of nodes; whether the contracts
 * are there; and whether relayers have gas. Endpoints are named by their number, since their addresses contain keys.
 */
import { Clock, Effect, Option } from "effect"
import type { EvmAddress } from "#domain/values/Caip.ts"
import { toViem } from "#layers/evm/address.ts"
import { type EvmChain, EvmConfig } from "#layers/evm/EvmConfig.ts"
import { missingContracts } from "#layers/evm/missingContracts.ts"
import { EvmClients } from "#layers/evm/rpc/EvmClients.ts"
import { tradeGuardAbi } from "#layers/evm/tradeGuard.ts"
import { codeChecks } from "#src/cli/doctor/codeChecks.ts"
import { nodeChecks } from "#src/cli/doctor/nodeChecks.ts"
import { type Finding, ok, problem, warning } from "#src/cli/doctor/Finding.ts"
import { addressOf } from "#src/config/signers.ts"

/** A block that is older was not the chain's latest, or the chain stands. */
const oldestBlockMs = 120_000
/** Clocks of nodes are a few seconds apart. */
const youngestBlockMs = 15_000

const seconds = (milliseconds: number): string => `${Math.round(milliseconds / 1000)} s`

const blockFinding = (subject: string, which: string, ageMs: number): Finding => {
  if (ageMs < -youngestBlockMs)
    return problem(
      subject,
      `the latest block of ${which} is ${seconds(-ageMs)} in the future`,
      "Set this machine's clock by NTP."
    )
  return ageMs > oldestBlockMs
    ? problem(
        subject,
        `the latest block of ${which} is ${seconds(ageMs)} old`,
        "The endpoint is behind, or this machine's clock is wrong: compare it with another endpoint, and the clock by NTP."
      )
    : ok(subject, `${which} answers for this chain, and its latest block is ${seconds(Math.max(0, ageMs))} old`)
}

const endpoints = Effect.fnUntraced(function* (chain: EvmChain, subject: string) {
  const { chainId, rpcUrls } = chain
  const { each } = yield* EvmClients
  const all = each(chainId)
  return yield* Effect.forEach(
    all,
    (endpoint, index) => {
      const which = `endpoint ${index + 1} of ${rpcUrls.length}`
      return endpoint
        .request(chainId, "eth_getBlockByNumber", (client) => client.getBlock())
        .pipe(
          Effect.flatMap(({ timestamp }) =>
            Effect.map(Clock.currentTimeMillis, (now) => blockFinding(subject, which, now - Number(timestamp) * 1000))
          ),
          Effect.flatMap((block) =>
            Effect.map(Effect.provideService(nodeChecks(chain, which), EvmClients, endpoint), (checks) => [
              block,
              ...checks
            ])
          ),
          Effect.catch(({ reason }) =>
            Effect.succeed([
              problem(
                subject,
                `${which} cannot be used: ${reason}`,
                `Correct or replace it in RPC_URL_${chainId}, or see why it does not answer.`
              )
            ])
          )
        )
    },
    { concurrency: "unbounded" }
  ).pipe(Effect.map((found) => found.flat()))
})

/** Blocks behind another endpoint, asked at one moment, from which nothing is read of an endpoint. */
const furthestBehind = 8n

/** Whether the endpoints are equally far: those that are not are asked last, and alone can read nothing that counts. */
const together = Effect.fnUntraced(function* ({ chainId }: EvmChain, subject: string) {
  const { each } = yield* EvmClients
  const heads = yield* Effect.forEach(
    each(chainId),
    ({ request }) =>
      Effect.option(request(chainId, "eth_blockNumber", (client) => client.getBlockNumber({ cacheTime: 0 }))),
    { concurrency: "unbounded" }
  )
  const most = heads.flatMap(Option.toArray).reduce((a, b) => (a > b ? a : b), 0n)
  return heads.flatMap((head, index): ReadonlyArray<Finding> =>
    Option.isNone(head) || most - head.value <= furthestBehind
      ? []
      : [
          warning(
            subject,
            `endpoint ${index + 1} of ${heads.length} is at block ${head.value}, ${most - head.value} blocks behind another one`,
            `Nothing is read from it while another one answers; replace it in RPC_URL_${chainId}.`
          )
        ]
  )
})

const contracts = (chain: EvmChain, subject: string) =>
  Effect.map(missingContracts(chain), (missing) =>
    missing.length === 0
      ? ok(subject, "every contract is there with the code that it should have")
      : problem(
          subject,
          `it lacks ${missing.join(", ")}`,
          "Deploy them, or correct the addresses (docs/deploying-contracts.md); until then the chain is not offered."
        )
  )

const balanceOf = Effect.fnUntraced(function* (chain: EvmChain, address: EvmAddress) {
  const { request } = yield* EvmClients
  return yield* request(chain.chainId, "eth_getBalance", (client) => client.getBalance({ address: toViem(address) }))
})

const ether = (wei: bigint): string => (Number(wei / 1_000_000_000n) / 1e9).toString()

const funds = Effect.fnUntraced(function* (chain: EvmChain, subject: string) {
  const { agent, relayers } = yield* EvmConfig
  const ofRelayers = yield* Effect.forEach(relayers, (relayer) => {
    const address = addressOf(relayer)
    return Effect.map(balanceOf(chain, address), (balance) => {
      const balanceText = `relayer ${address} has ${ether(balance)} native tokens`
      const toDo = `Send it native tokens on chain ${chain.chainId}; nothing lands without.`
      if (balance === 0n) return problem(subject, balanceText, toDo)
      return balance < chain.lowRelayerFunds ? warning(subject, balanceText, toDo) : ok(subject, balanceText)
    })
  })
  const agentAddress = addressOf(agent)
  const held = yield* balanceOf(chain, agentAddress)
  return held === 0n
    ? ofRelayers
    : [
        ...ofRelayers,
        warning(
          subject,
          `the agent ${agentAddress} has ${ether(held)} native tokens, which it has no use for`,
          "Move them away: the agent's key needs no funds."
        )
      ]
})

const guard = Effect.fnUntraced(function* (
  { chainId, guard: address }: EvmChain,
  subject: string,
  attestor: EvmAddress | null
) {
  if (address === undefined)
    return [
      warning(
        subject,
        "no guard is configured, so a stolen agent key may trade everything away",
        `Deploy the guard and set TRADE_GUARD_${chainId} (docs/deploying-contracts.md).`
      )
    ]
  const { request } = yield* EvmClients
  const read = (functionName: "attestor" | "state") =>
    request(chainId, "eth_call", (client) =>
      client.readContract({ address: toViem(address), abi: tradeGuardAbi, functionName })
    )
  const signer = String(yield* read("attestor")).toLowerCase()
  const { isPaused, isSealed } = (yield* read("state")) as { readonly isPaused: boolean; readonly isSealed: boolean }
  return [
    isSealed
      ? ok(subject, "its guard is sealed")
      : problem(subject, "its guard is not sealed, so no account can be installed", "Read it back and seal it."),
    ...(isPaused
      ? [
          problem(
            subject,
            "its guard is paused, so nothing is traded under it",
            "Its administrator schedules `unpause` and makes it two days later."
          )
        ]
      : []),
    ...(attestor === null || attestor.toLowerCase() === signer
      ? []
      : [
          problem(
            subject,
            `its guard accepts the attestor ${signer}, and ${attestor} is configured`,
            "Name the configured one by setKeys, which takes two days, or set the key that the guard accepts."
          )
        ])
  ]
})

/** Findings on one chain. `attestor` is the key that signs in this process; null where none does. */
export const chainChecks = Effect.fnUntraced(function* (chain: EvmChain, attestor: EvmAddress | null) {
  const subject = `chain ${chain.chainId}`
  const found: ReadonlyArray<Finding> = yield* endpoints(chain, subject)
  // Without an endpoint nothing else can be checked of the chain.
  if (found.every(({ status }) => status === "problem")) return found
  const rest: ReadonlyArray<ReadonlyArray<Finding>> = yield* Effect.all(
    [
      together(chain, subject),
      Effect.map(contracts(chain, subject), (one) => [one]),
      codeChecks(chain, subject),
      funds(chain, subject),
      guard(chain, subject, attestor)
    ].map((check) =>
      Effect.catch(check, ({ message }) =>
        Effect.succeed([problem(subject, `a part of it could not be read: ${message}`, "Run doctor again.")])
      )
    ),
    { concurrency: "unbounded" }
  )
  return [...found, ...rest.flat()]
})
