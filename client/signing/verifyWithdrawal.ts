/** Holds what stage 1 of a withdrawal issued against what was asked for, and says what a signature over it does. */
import type { DataOf } from "#client/plain/Call.ts"
import { requireSame, Altered } from "#client/signing/Altered.ts"

type Issued = DataOf<"prepareWithdrawal">
type TypedData = Extract<Issued, { readonly typedData: unknown }>["typedData"]
type Authorization = Extract<Issued, { readonly authorization: unknown }>["authorization"]

export interface ExpectedWithdrawal {
  readonly portfolioId: string
  /** CAIP-10 of who receives, bound to its chain. */
  readonly recipientAccountId: string
  /** The portfolio's account on that chain; not compared when left out. */
  readonly account?: string
  /** What was asked for; left out for a liquidation of everything. */
  readonly assets?: ReadonlyArray<{ readonly assetId: string; readonly amountRaw: string }>
  /** True when what is taken out is sold first. */
  readonly liquidate?: boolean
}

export const asText = (assets: ReadonlyArray<{ readonly assetId: string; readonly amountRaw: string }>) =>
  assets.map(({ amountRaw, assetId }) => `${amountRaw} of ${assetId}`).join(", ")

export const verifyMessage = ({ message }: Pick<TypedData, "message">, expected: ExpectedWithdrawal) => {
  requireSame(
    "message.portfolioId",
    { given: message.portfolioId, expected: expected.portfolioId },
    "is another portfolio"
  )
  requireSame(
    "message.recipientAccountId",
    { given: message.recipientAccountId, expected: expected.recipientAccountId },
    "is not the recipient that was asked for"
  )
  if (expected.assets !== undefined) {
    requireSame(
      "message.assets",
      { given: asText(message.assets), expected: asText(expected.assets) },
      "are not what was asked for"
    )
  }
}

export const untilOf = ({ expiresAt }: TypedData["message"]) =>
  `It can be carried out once, until ${new Date(expiresAt * 1_000).toISOString()}.`

/** Throws `Altered` with the part's name; answers what the signature does, a sentence each. */
export const verifyWithdrawal = (typedData: TypedData, expected: ExpectedWithdrawal): ReadonlyArray<string> => {
  const { domain, message } = typedData
  const { account, liquidate = false } = expected
  const [, chainId, recipient] = expected.recipientAccountId.split(":")
  verifyMessage(typedData, expected)
  requireSame(
    "domain.chainId",
    { given: `${domain.chainId}`, expected: chainId ?? "" },
    "is another chain than the recipient's"
  )
  if (account !== undefined) {
    requireSame(
      "domain.verifyingContract",
      { given: domain.verifyingContract, expected: account },
      "is not the portfolio's account"
    )
  }
  if ((message.liquidate === true) !== liquidate || domain.version !== (liquidate ? "2" : "1")) {
    throw new Altered(
      "message.liquidate",
      liquidate ? "is missing" : "says that the assets are sold, which nobody asked for"
    )
  }
  return [
    `${liquidate ? "Sells and takes out" : "Takes out"} ${asText(message.assets)} from ${domain.verifyingContract} on chain ${domain.chainId}.`,
    `All of it goes to ${recipient}.`,
    untilOf(message)
  ]
}

const utf8 = (hex: string) =>
  new TextDecoder().decode(Uint8Array.from(hex.slice(2).match(/../gu) ?? [], (byte) => Number.parseInt(byte, 16)))

/** Verifies the withdrawal text of a portfolio on Solana. */
export const verifyWithdrawalText = (
  authorization: Authorization,
  expected: Omit<ExpectedWithdrawal, "account" | "liquidate">
): ReadonlyArray<string> => {
  const { message } = authorization
  verifyMessage(authorization, expected)
  const isRaw = authorization.kind === "ecdsa"
  const text = isRaw ? utf8(authorization.raw) : authorization.text
  const [title, ...said] = text.split("\n")
  const lines = [
    `portfolioId: ${message.portfolioId}`,
    `recipientAccountId: ${message.recipientAccountId}`,
    ...message.assets.map(({ amountRaw, assetId }) => `${assetId} ${amountRaw}`),
    `nonce: ${message.nonce}`,
    `expiresAt: ${message.expiresAt}`
  ]
  const part = isRaw ? "authorization.raw" : "authorization.text"
  requireSame(part, { given: said.join("\n"), expected: lines.join("\n") }, "does not say what the message says")
  if (title?.endsWith(" Withdrawal Authorization") !== true) throw new Altered(part, "is not titled as a withdrawal")
  return [
    `Takes out ${asText(message.assets)} from the portfolio's account on Solana.`,
    `All of it goes to ${message.recipientAccountId.split(":")[2]}.`,
    untilOf(message)
  ]
}
