/** Reads where the agent's and the relayer's keys are kept: in the environment, in a file, or behind a remote signer. */
import { Effect } from "effect"
import { EvmAddress } from "#domain/Caip.ts"
import { addressOfKey } from "#layers/evm/signer/localSigner.ts"
import type { SignerConfig } from "#layers/evm/signer/SignerConfig.ts"
import { keyFile } from "#src/config/keyFile.ts"
import { httpUrl, kind, secret, text } from "#src/config/kinds.ts"
import { all, optional, required, type Setting } from "#src/config/Setting.ts"

const privateKey = secret(
  /^0x(?!0{64})[0-9a-fA-F]{64}$/,
  "a private key as 0x and 64 hex digits",
  "0x followed by the output of: openssl rand -hex 32"
)

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

/** The key of `AGENT` or `RELAYER`, from exactly one of its three places. */
const signer = (prefix: "AGENT" | "RELAYER"): Setting<SignerConfig> =>
  Effect.gen(function* () {
    const { file, key, url } = yield* all({
      key: optional(`${prefix}_PRIVATE_KEY`, privateKey),
      file: optional(`${prefix}_KEY_FILE`, text("the path of a file", "/run/secrets/key")),
      url: optional(`${prefix}_SIGNER_URL`, httpUrl("https://signer.example.com/sign"))
    })
    const given = [key, file, url].filter((place) => place !== null).length
    if (given > 1) {
      return yield* Effect.fail([
        `${prefix}_PRIVATE_KEY: the key is named in several places; set one of ${prefix}_PRIVATE_KEY, ${prefix}_KEY_FILE and ${prefix}_SIGNER_URL`
      ])
    }
    if (file !== null) return yield* local(keyFile(`${prefix}_KEY_FILE`, file))
    if (url !== null) return yield* remote(prefix, url)
    return yield* local(required(`${prefix}_PRIVATE_KEY`, privateKey))
  })

const addressOf = (config: SignerConfig): EvmAddress =>
  config.kind === "remote" ? config.address : addressOfKey(config.key)

/** Both, which must be different keys. */
export const signers: Setting<{ readonly agent: SignerConfig; readonly relayer: SignerConfig }> = Effect.gen(
  function* () {
    const read = yield* all({ agent: signer("AGENT"), relayer: signer("RELAYER") })
    if (addressOf(read.agent) !== addressOf(read.relayer)) return read
    return yield* Effect.fail([
      "RELAYER_PRIVATE_KEY: is the key of the agent; the account that pays gas needs a key of its own"
    ])
  }
)
