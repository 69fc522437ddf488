/** Whether each endpoint of Solana answers for the main network, and whether the agent can pay for transactions. */
import { NATIVE_MINT } from "@solana/spl-token"
import { Effect, Layer, Option } from "effect"
import { solanaChainId } from "#domain/values/Caip.ts"
import { localAgent } from "#layers/solana/lifecycle/Agent.ts"
import { SolanaRpc } from "#layers/solana/rpc/SolanaRpc.ts"
import { readProgramFeatures } from "#layers/solana/withdrawal/programFeatures.ts"
import { JupiterClient } from "#layers/solana/trading/JupiterClient.ts"
import { lowLamports } from "#layers/solana/SolanaFunds.ts"
import type { SolanaDeployment } from "#layers/solana/SolanaConfig.ts"
import { type Finding, ok, problem, warning } from "#src/cli/doctor/Finding.ts"

const subject = `chain ${solanaChainId}`

const endpoints = Effect.gen(function* () {
  const { each } = yield* SolanaRpc
  return yield* Effect.forEach(
    each,
    ({ position }, index) => {
      const which = `endpoint ${index + 1} of ${each.length}`
      return Effect.match(position("confirmed"), {
        onSuccess: ({ slot }) => ok(subject, `${which} answers for Solana, at slot ${slot}`),
        onFailure: ({ reason }) =>
          problem(
            subject,
            `${which} cannot be used: ${reason}`,
            "Correct or replace it in SOLANA_RPC_URL, or see why it does not answer."
          )
      })
    },
    { concurrency: "unbounded" }
  )
})

const funds = Effect.fnUntraced(function* ({ agentSeed }: SolanaDeployment) {
  const { key } = localAgent(agentSeed)
  const { values } = yield* (yield* SolanaRpc).accounts([key])
  const lamports = Option.match(values[0]!, { onNone: () => 0n, onSome: (account) => account.lamports })
  const balanceText = `the agent ${key.toBase58()} has ${Number(lamports) / 1e9} SOL`
  const toDo = "Send it SOL: it pays the fees, and the rent of new wallets and token accounts."
  if (lamports === 0n) return problem(subject, balanceText, toDo)
  return lamports < lowLamports ? warning(subject, balanceText, toDo) : ok(subject, balanceText)
})

/** What owners can do without the service, by the Swig program as it is deployed. */
const program = Effect.fnUntraced(function* ({ agentSeed }: SolanaDeployment) {
  const { hasScopedSubAccounts, replacesKeys } = yield* readProgramFeatures(localAgent(agentSeed).key)
  const others = hasScopedSubAccounts ? "; it has sub-accounts of the second kind, which are not used" : ""
  return replacesKeys
    ? ok(subject, `the Swig program puts another key into a role, by which owners stop the agent${others}`)
    : warning(
        subject,
        `the Swig program puts no other key into a role${others}`,
        "Tell owners that they stop the agent by removing its role, after which tokens with a pause, a fee or a hook stay."
      )
})

/** A dollar for SOL, as a quote asks for it. */
const question = {
  inputMint: "EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v",
  outputMint: NATIVE_MINT.toBase58(),
  amountRaw: 1_000_000n,
  slippageBps: 50,
  maxAccounts: 54
}

/** Whether Jupiter quotes. While it does not, nothing is traded on Solana; withdrawals go on. */
const jupiter = Effect.fnUntraced(function* ({ agentSeed, jupiter: settings }: SolanaDeployment) {
  const taker = localAgent(agentSeed).key.toBase58()
  return yield* Effect.flatMap(JupiterClient, ({ build }) => build({ ...question, taker })).pipe(
    Effect.provide(Layer.fresh(JupiterClient.layer(settings))),
    Effect.match({
      onSuccess: ({ outAmount }) => ok(subject, `Jupiter answers: 1 USDC is ${Number(outAmount) / 1e9} SOL`),
      onFailure: ({ reason }) =>
        problem(
          subject,
          `Jupiter cannot be used: ${reason}`,
          "Nothing is traded on Solana until it answers; runs try again by themselves. Check JUPITER_URL and JUPITER_API_KEY."
        )
    })
  )
})

/** Nothing of a deployment without Solana. */
export const solanaChecks = Effect.fnUntraced(
  function* (solana: SolanaDeployment | null) {
    if (solana === null) return []
    const found: ReadonlyArray<Finding> = yield* endpoints
    if (found.every(({ status }) => status === "problem")) return found
    const readings = yield* Effect.forEach([funds(solana), program(solana)], (reading) =>
      Effect.catch(reading, ({ message }) =>
        Effect.succeed(problem(subject, `a part of it could not be read: ${message}`, "Run doctor again."))
      )
    )
    return [...found, ...readings, yield* jupiter(solana)]
  },
  (effect, solana) => Effect.provide(effect, Layer.fresh(SolanaRpc.layer(solana?.rpcUrls ?? [])))
)
