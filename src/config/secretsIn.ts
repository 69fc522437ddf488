import { Redacted } from "effect"
import type { SignerConfig } from "#layers/evm/signer/SignerConfig.ts"

/** A shorter piece of a URL is a version or a network's name, not a key. */
const shortestKey = 16

/** Blacking out a shorter text would black out ordinary words. */
const shortestSecret = 8

/** Passwords, and the path segments and parameters of a URL that are long enough to be a key. */
const secretParts = (url: string): ReadonlyArray<string> => {
  const { password, pathname, searchParams } = new URL(url)
  const candidates = [...pathname.split("/"), ...searchParams.values()].filter((part) => part.length >= shortestKey)
  return password === "" ? candidates : [password, decodeURIComponent(password), ...candidates]
}

/** Every text of a configuration that must not be seen, so that logs and exports can black it out. */
export const secretsIn = (config: {
  readonly database: { readonly url: Redacted.Redacted | null }
  readonly pepper: Redacted.Redacted
  readonly evm: {
    readonly agent: SignerConfig
    readonly relayers: ReadonlyArray<SignerConfig>
    readonly chains: ReadonlyArray<{ readonly rpcUrls: ReadonlyArray<string> }>
  }
  readonly coinGecko: { readonly apiKey: Redacted.Redacted | null }
  readonly adminToken: Redacted.Redacted
  readonly internalToken: Redacted.Redacted
  readonly redisUrl: Redacted.Redacted | null
  readonly telemetry: {
    readonly otlp: { readonly headers: Redacted.Redacted<Readonly<Record<string, string>>> } | null
  }
}): ReadonlyArray<Redacted.Redacted> => {
  const { agent, relayers, chains } = config.evm
  const signers = [agent, ...relayers].map((signer) => (signer.kind === "local" ? signer.key : signer.token))
  const urls = [config.database.url, config.redisUrl].flatMap((url) => (url === null ? [] : Redacted.value(url)))
  const headers = config.telemetry.otlp === null ? {} : Redacted.value(config.telemetry.otlp.headers)
  const texts = [
    ...[...signers, config.pepper, config.adminToken, config.internalToken].map(Redacted.value),
    ...signers.map((key) => Redacted.value(key).replace(/^0x/u, "")),
    ...(config.coinGecko.apiKey === null ? [] : [Redacted.value(config.coinGecko.apiKey)]),
    ...[...urls, ...chains.flatMap(({ rpcUrls }) => rpcUrls)].flatMap(secretParts),
    ...Object.values(headers)
  ]
  return [...new Set(texts)].filter((text) => text.length >= shortestSecret).map((text) => Redacted.make(text))
}
