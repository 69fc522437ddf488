/**
 * Reads where the agent's, the relayer's and the attestor's keys are kept: in the environment, in a file, or behind a
 * remote signer.
 */
import { Effect } from "effect"
import { EvmAddress } from "#domain/values/Caip.ts"
import type { AttestorChoice } from "#layers/attestor/AttestorConfig.ts"
import type { EvmConfig } from "#layers/evm/EvmConfig.ts"
import { addressOfKey } from "#layers/evm/signer/localSigner.ts"
import type { SignerConfig } from "#layers/evm/SignerConfig.ts"
import { keyFile } from "#src/config/keyFile.ts"
import { httpUrl, kind, listOf, secret, text } from "#src/config/kinds.ts"
import { all, optional, required, type Setting } from "#src/config/Setting.ts"

export const evmPrivateKey = secret(
  /^0x(?!0{64})[0-9a-fA-F]{64}$/,
  "a private key as 0x and 64 hex digits",
  "0x followed by the output of: openssl rand -hex 32"
)

const keyPath = text("the path of a file", "/run/secrets/key")
const signerUrl = httpUrl("https://signer.example.com/sign")

const remote = (prefix: string, url: string): Setting<SignerConfig> =>
  Effect.map(
    all({
      keyId: required(`${prefix}_SIGNER_KEY_ID`, text("the signer's name of the key", "ballast-agent")),
      token: required(
        `${prefix}_SIGNER_TOKEN`,
        secret(/^[!-~]{8,4096}$/, "8 to 4096 printable characters without spaces", "a bearer token")
      ),
      address: required(
        `${prefix}_SIGNER_ADDRESS`,
        kind(EvmAddress, "the address of the key", "0x52908400098527886E0F7030069857D2E4169EE7")
      )
    }),
    (read): SignerConfig => ({ kind: "remote", url, ...read })
  )

const local = (key: Setting<Parameters<typeof addressOfKey>[0]>): Setting<SignerConfig> =>
  Effect.map(key, (opened): SignerConfig => ({ kind: "local", key: opened }))

/** Whose key it is. */
type Prefix = "AGENT" | "RELAYER" | "ATTESTOR" | "ATTESTOR_NEXT"

/** The key of one of them, from exactly one of its three variables. */
const signer = (prefix: Prefix): Setting<SignerConfig> =>
  Effect.flatMap(optionalSigner(prefix), (found) =>
    found === null
      ? Effect.map(required(`${prefix}_PRIVATE_KEY`, evmPrivateKey), (key): SignerConfig => ({ kind: "local", key }))
      : Effect.succeed(found)
  )

/** Reads a signer's settings; null when there are none. */
const optionalSigner = (prefix: Prefix): Setting<SignerConfig | null> =>
  Effect.gen(function* () {
    const { file, key, url } = yield* all({
      key: optional(`${prefix}_PRIVATE_KEY`, evmPrivateKey),
      file: optional(`${prefix}_KEY_FILE`, keyPath),
      url: optional(`${prefix}_SIGNER_URL`, signerUrl)
    })
    const given = [key, file, url].filter((place) => place !== null).length
    if (given > 1) {
      return yield* Effect.fail([
        `${prefix}_PRIVATE_KEY: the key is named in several places; set one of ${prefix}_PRIVATE_KEY, ${prefix}_KEY_FILE and ${prefix}_SIGNER_URL`
      ])
    }
    if (file !== null) return yield* local(keyFile(`${prefix}_KEY_FILE`, file))
    if (url !== null) return yield* remote(prefix, url)
    return key === null ? null : yield* local(Effect.succeed(key))
  })

/** The attestor's key, as its own process reads it, and the next one while they are exchanged. */
export const attestorSigners: Setting<readonly [SignerConfig, ...ReadonlyArray<SignerConfig>]> = Effect.gen(
  function* () {
    const { first, next } = yield* all({ first: signer("ATTESTOR"), next: optionalSigner("ATTESTOR_NEXT") })
    return next === null ? [first] : [first, next]
  }
)

/** Where the service finds the attestor: in its own process, with a key here, or nowhere. */
const attestorChoice: Setting<AttestorChoice> = Effect.gen(function* () {
  const { here, url } = yield* all({
    url: optional("ATTESTOR_URL", httpUrl("http://attestor:3002")),
    here: optionalSigner("ATTESTOR")
  })
  if (url === null) return here === null ? { kind: "none" } : { kind: "here", signer: here }
  if (here !== null) {
    return yield* Effect.fail([
      "ATTESTOR_URL: the attestor is named in two places; set ATTESTOR_URL, or a key of it, which then signs in this process"
    ])
  }
  return { kind: "process", url, token: yield* attestorToken }
})

/** What the attestor's process and its callers share. */
export const attestorToken = required(
  "ATTESTOR_TOKEN",
  secret(/^[!-~]{24,200}$/, "24 to 200 printable characters without spaces", "the output of: openssl rand -hex 32")
)

/** Address of the key, wherever it is kept. */
export const addressOf = (config: SignerConfig): EvmAddress =>
  config.kind === "remote" ? config.address : addressOfKey(config.key)

/** The relayer's keys: several in `RELAYER_PRIVATE_KEYS`, or one in one of the three variables. */
const relayerKeys: Setting<readonly [SignerConfig, ...ReadonlyArray<SignerConfig>]> = Effect.gen(function* () {
  const several = yield* optional("RELAYER_PRIVATE_KEYS", listOf(evmPrivateKey))
  if (several === null) return [yield* signer("RELAYER")] as const
  const { file, key, url } = yield* all({
    key: optional("RELAYER_PRIVATE_KEY", evmPrivateKey),
    file: optional("RELAYER_KEY_FILE", keyPath),
    url: optional("RELAYER_SIGNER_URL", signerUrl)
  })
  if (key !== null || file !== null || url !== null) {
    return yield* Effect.fail([
      "RELAYER_PRIVATE_KEYS: the key is named in several places; list every key there, or set one of the others"
    ])
  }
  const [first, ...others] = several
  const opened = (one: typeof first): SignerConfig => ({ kind: "local", key: one })
  return [opened(first), ...others.map(opened)] as const
})

/** All of them, which must be different keys. */
export const signers: Setting<
  Pick<EvmConfig["Service"], "agent" | "relayers"> & { readonly attestor: AttestorChoice }
> = Effect.gen(function* () {
  const read = yield* all({ agent: signer("AGENT"), relayers: relayerKeys, attestor: attestorChoice })
  const relayers = read.relayers.map(addressOf)
  const { attestor } = read
  if (attestor.kind === "here" && [addressOf(read.agent), ...relayers].includes(addressOf(attestor.signer))) {
    return yield* Effect.fail([
      "ATTESTOR_PRIVATE_KEY: is the key of the agent or of a relayer; who steals one key must not have two"
    ])
  }
  if (relayers.includes(addressOf(read.agent))) {
    return yield* Effect.fail([
      "RELAYER_PRIVATE_KEY: is the key of the agent; the account that pays gas needs a key of its own"
    ])
  }
  return new Set(relayers).size === relayers.length
    ? read
    : yield* Effect.fail(["RELAYER_PRIVATE_KEYS: names a key twice; each account needs a key of its own"])
})
