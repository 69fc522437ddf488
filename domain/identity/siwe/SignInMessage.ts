/** What a wallet signs to sign in, and when it is accepted. Source: ERC-4361. */
import { DateTime, Duration } from "effect"
import type { EvmAddress, ChainId } from "#domain/values/Caip.ts"

/** The fields of a message that is written as ERC-4361 has it, to the last character. */
export interface SignInMessage {
  /** Null when the message names none. */
  readonly scheme: string | null
  readonly domain: string
  readonly address: EvmAddress
  readonly uri: string
  readonly version: string
  readonly chainId: number
  readonly nonce: string
  readonly issuedAt: DateTime.Utc
  readonly expiresAt: DateTime.Utc | null
  readonly notBefore: DateTime.Utc | null
}

/** How long a nonce may be used, and so how old a message may be. */
export const nonceLife = Duration.minutes(10)
/** Most that a wallet's clock may be ahead. */
const skew = Duration.minutes(1)

/** Wallets are on Ethereum by default, whether or not the deployment serves it. */
const ethereum = 1

export interface SignInRules {
  /** Origins that people may sign in on, such as `https://app.example.com`. */
  readonly origins: ReadonlyArray<string>
  readonly chainIds: ReadonlyArray<ChainId>
  readonly now: DateTime.Utc
}

const originOf = (uri: string) => (URL.canParse(uri) ? new URL(uri).origin : undefined)

const names =
  ({ domain, scheme }: SignInMessage) =>
  (origin: string) => {
    const { host, protocol } = new URL(origin)
    return host === domain && (scheme === null || protocol === `${scheme}:`)
  }

/** What is wrong with a message beside nonce and signature, a line for each field; none when it is accepted. */
export const signInProblems = (
  message: SignInMessage,
  { chainIds, now, origins }: SignInRules
): ReadonlyArray<string> => {
  const problems: Array<string> = []
  const named = origins.filter(names(message))
  if (named.length === 0)
    problems.push(`domain: people sign in on ${origins.join(", ") || "no origin of this service"}`)
  else if (!named.includes(originOf(message.uri) ?? "")) problems.push(`uri: expected an address under ${named[0]}`)
  if (message.version !== "1") problems.push("version: expected 1")
  if (message.chainId !== ethereum && !chainIds.some((id) => id === message.chainId))
    problems.push(`chainId: expected one of ${[...new Set([ethereum, ...chainIds])].join(", ")}`)
  if (DateTime.isGreaterThan(message.issuedAt, DateTime.addDuration(now, skew)))
    problems.push("issuedAt: is in the future; set the clock of the device")
  if (DateTime.isLessThan(message.issuedAt, DateTime.subtractDuration(now, nonceLife)))
    problems.push("issuedAt: is more than 10 minutes ago; ask for a new nonce and sign again")
  if (message.expiresAt !== null && DateTime.isLessThanOrEqualTo(message.expiresAt, now))
    problems.push("expirationTime: has passed")
  if (message.notBefore !== null && DateTime.isGreaterThan(message.notBefore, DateTime.addDuration(now, skew)))
    problems.push("notBefore: has not come yet")
  return problems
}

/** What is wrong with the form of a signature, whoever signed; undefined when it may be one. */
export const signatureFormProblem = (signature: string): string | undefined => {
  if (/^(?:[0-9a-fA-F]{2})+$/u.test(signature)) return "signature: expected hex with 0x in front; add the 0x"
  if (!/^0[xX](?:[0-9a-fA-F]{2})+$/u.test(signature)) return "signature: expected bytes in hex with 0x"
  return undefined
}

/** Characters of r and of s with the parity of y in its highest bit, 64 bytes in hex with 0x. */
const compactLength = 130

/**
 * Says why a signature is refused that neither the key of the address nor a contract there accepts, and what to send.
 */
export const signatureProblem = (
  { address, chainId }: SignInMessage,
  signature: string,
  { chainIds }: Pick<SignInRules, "chainIds">
): string => {
  if (signature.length === compactLength)
    return "signature: 64 bytes are the compact form of EIP-2098, which is not taken; send the 65 bytes of r, s and v"
  if (chainIds.some((id) => id === chainId))
    return "signature: expected an EIP-191 signature of the address, or one that its contract stands by"
  const served = chainIds.length === 0 ? "no chain" : `chain ${chainIds.join(", ")}`
  return `signature: does not recover to ${address}; contracts sign in on ${served}, and the message names chain ${chainId}`
}
