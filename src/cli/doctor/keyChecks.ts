/** The keys, and whether the processes that keep some of them can be reached. Nothing is signed. */
import { Duration, Effect } from "effect"
import { FetchHttpClient, HttpClient } from "effect/http"
import type { AttestorChoice } from "#layers/attestor/AttestorConfig.ts"
import type { SignerConfig } from "#layers/evm/SignerConfig.ts"
import { type Finding, ok, problem, warning } from "#src/cli/doctor/Finding.ts"
import { addressOf } from "#src/config/signers.ts"
import type { ServiceConfig } from "#src/Config.ts"

const answerLimit = Duration.seconds(5)

/** The status of an answer; null when there was none. */
const statusOf = (url: string) =>
  Effect.flatMap(HttpClient.HttpClient, (http) => http.get(url)).pipe(
    Effect.map(({ status }): number | null => status),
    Effect.timeout(answerLimit),
    Effect.catch(() => Effect.succeed(null)),
    Effect.provideService(FetchHttpClient.RequestInit, { redirect: "manual" })
  )

const signer = Effect.fnUntraced(function* (role: string, config: SignerConfig) {
  const address = addressOf(config)
  if (config.kind === "local") return ok("keys", `the ${role}'s key is that of ${address}, in this process`)
  return (yield* statusOf(config.url)) === null
    ? problem(
        "keys",
        `the signer that keeps the ${role}'s key ${address} cannot be reached`,
        "See that it runs, and that its URL is right; until then nothing is signed."
      )
    : ok("keys", `the ${role}'s key is that of ${address}, and its signer can be reached`)
})

const attestor = Effect.fnUntraced(function* (location: AttestorChoice) {
  if (location.kind === "none")
    return ok("attestor", "none is configured: tokens without a feed are not traded under the guard")
  if (location.kind === "here")
    return warning(
      "attestor",
      `the key of ${addressOf(location.signer)} signs prices in the API's own process`,
      "In production run the attestor as a process of its own: who has this process has both keys."
    )
  return (yield* statusOf(`${location.url}/health/ready`)) === 200
    ? ok("attestor", "its process is ready")
    : problem(
        "attestor",
        "its process at ATTESTOR_URL is not ready",
        "See that it runs; until then tokens without a feed are not traded under the guard."
      )
})

export const keyChecks = ({ attestor: location, evm: { agent, relayers } }: Pick<ServiceConfig, "attestor" | "evm">) =>
  Effect.all([
    signer("agent", agent),
    ...relayers.map((relayer) => signer("relayer", relayer)),
    attestor(location)
  ]).pipe(
    Effect.provide(FetchHttpClient.layer),
    Effect.map((found): ReadonlyArray<Finding> => found)
  )
