/** Reads the Solana chain of a deployment: it takes part when it has an RPC endpoint. */
import { Effect, Redacted, Schema, SchemaTransformation } from "effect"
import * as Base58 from "#domain/values/Base58.ts"
import * as Ed25519 from "#layers/solana/ed25519.ts"
import type { SolanaDeployment } from "#layers/solana/SolanaConfig.ts"
import { fileText } from "#src/config/keyFile.ts"
import * as Kind from "#src/config/kinds.ts"
import { evmPrivateKey } from "#src/config/signers.ts"
import { all, type Kind as KindOf, optional, required, type Setting, withDefault } from "#src/config/Setting.ts"

const jupiterUrl = "https://api.jup.ag"
/** What Jupiter serves without a key, and by a key of its free plan. Source: dev.jup.ag, "Rate Limits". */
const keylessPerMinute = 30
const freePerMinute = 60

/** The seed in a key of 64 bytes, seed and public key, as wallets export it; undefined when they do not match. */
const seedOf = (text: string): Uint8Array | undefined => {
  const bytes = Base58.decode(text)
  if (bytes?.length !== 64) return undefined
  const seed = bytes.slice(0, 32)
  return Buffer.from(Ed25519.publicKeyOf(seed)).equals(bytes.slice(32)) ? seed : undefined
}

const expected = "a Solana private key, base58 of its 64 bytes"

const privateKey: KindOf<Redacted.Redacted> = {
  schema: Schema.String.check(Schema.makeFilter((text) => seedOf(text) !== undefined)).pipe(
    Schema.decodeTo(
      Schema.Redacted(Schema.String),
      SchemaTransformation.transform({ decode: Redacted.make, encode: Redacted.value })
    )
  ) as KindOf<Redacted.Redacted>["schema"],
  expected,
  example: "the private key that a wallet exports",
  isSecret: true
}

const seed = (key: Redacted.Redacted) => Redacted.make(seedOf(Redacted.value(key))!)

/** The agent's key, from exactly one of its two variables. */
const agentSeed: Setting<Redacted.Redacted<Uint8Array>> = Effect.gen(function* () {
  const { file, key } = yield* all({
    key: optional("SOLANA_AGENT_PRIVATE_KEY", privateKey),
    file: optional("SOLANA_AGENT_KEY_FILE", Kind.text("the path of a file", "/run/secrets/solana-agent"))
  })
  if (key !== null && file !== null) {
    return yield* Effect.fail([
      "SOLANA_AGENT_PRIVATE_KEY: the key is named in several places; set one of SOLANA_AGENT_PRIVATE_KEY and SOLANA_AGENT_KEY_FILE"
    ])
  }
  if (key !== null) return seed(key)
  if (file === null) {
    return yield* Effect.fail([
      "SOLANA_AGENT_PRIVATE_KEY: is not set; a deployment with SOLANA_RPC_URL needs the agent's key there or in SOLANA_AGENT_KEY_FILE"
    ])
  }
  return seed(yield* fileText("SOLANA_AGENT_KEY_FILE", file, { isKey: (text) => seedOf(text) !== undefined, expected }))
})

const endpoints = Kind.listOf(Kind.secretUrl(["https:", "http:"], "https://solana.example.com/v1/key"))

/** What an owner needs who leaves without the service. */
export const leaver = Effect.map(
  all({
    rpcUrls: required("SOLANA_RPC_URL", endpoints),
    key: required("SOLANA_OWNER_PRIVATE_KEY", privateKey),
    evmKey: optional("SOLANA_OWNER_EVM_PRIVATE_KEY", evmPrivateKey)
  }),
  ({ evmKey, key, rpcUrls }) => ({ rpcUrls, seed: seed(key), evmKey })
)

/** Null where no Solana endpoint is set. */
export const solana: Setting<SolanaDeployment | null> = Effect.flatMap(
  optional("SOLANA_RPC_URL", endpoints),
  (rpcUrls) =>
    rpcUrls === null
      ? Effect.succeed(null)
      : Effect.map(
          all({
            agentSeed,
            percentile: withDefault("SOLANA_FEE_PERCENTILE", Kind.integer(0, 100, "75"), 75),
            maxPriorityLamports: withDefault(
              "SOLANA_MAX_PRIORITY_LAMPORTS",
              Kind.integer(0, 1_000_000_000, "1000000"),
              1_000_000
            ),
            baseUrl: withDefault("JUPITER_URL", Kind.httpUrl(jupiterUrl), jupiterUrl),
            apiKey: optional(
              "JUPITER_API_KEY",
              Kind.secret(/^[!-~]{1,200}$/, "a key without spaces", "the key of the deployment")
            ),
            requestsPerMinute: optional("JUPITER_REQUESTS_PER_MINUTE", Kind.integer(1, 1_000_000, "600"))
          }),
          ({ apiKey, baseUrl, maxPriorityLamports, percentile, requestsPerMinute, ...read }): SolanaDeployment => ({
            ...read,
            rpcUrls,
            fees: { percentile, maxPriorityLamports: BigInt(maxPriorityLamports) },
            jupiter: {
              baseUrl,
              apiKey,
              requestsPerSecond: (requestsPerMinute ?? (apiKey === null ? keylessPerMinute : freePerMinute)) / 60
            }
          })
        )
)
