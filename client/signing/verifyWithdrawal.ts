/** Holds the typed data of a withdrawal or a liquidation against what was asked for, and says what it does. */
import { requireSame, Altered } from "#client/signing/Altered.ts"
import type { WithdrawalAuthorization } from "#http/v2/withdrawal/WithdrawalModel.ts"

type TypedData = (typeof WithdrawalAuthorization.Type)["typedData"]

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

const asText = (assets: ReadonlyArray<{ readonly assetId: string; readonly amountRaw: string }>) =>
  assets.map(({ amountRaw, assetId }) => `${amountRaw} of ${assetId}`).join(", ")

/** Throws `Altered` with the part's name; answers what the signature does, a sentence each. */
export const verifyWithdrawal = (typedData: TypedData, expected: ExpectedWithdrawal): ReadonlyArray<string> => {
  const { domain, message } = typedData
  const { account, assets, liquidate = false } = expected
  const [, chainId, recipient] = expected.recipientAccountId.split(":")
  requireSame("message.portfolioId", message.portfolioId, expected.portfolioId, "is another portfolio")
  requireSame(
    "message.recipientAccountId",
    message.recipientAccountId,
    expected.recipientAccountId,
    "is not the recipient that was asked for"
  )
  requireSame("domain.chainId", `${domain.chainId}`, chainId ?? "", "is another chain than the recipient's")
  if (account !== undefined) {
    requireSame("domain.verifyingContract", domain.verifyingContract, account, "is not the portfolio's account")
  }
  if (assets !== undefined) {
    requireSame("message.assets", asText(message.assets), asText(assets), "are not what was asked for")
  }
  if ((message.liquidate === true) !== liquidate || domain.version !== (liquidate ? "2" : "1")) {
    throw new Altered(
      "message.liquidate",
      liquidate ? "is missing" : "says that the assets are sold, which nobody asked for"
    )
  }
  const until = new Date(message.expiresAt * 1_000).toISOString()
  return [
    `${liquidate ? "Sells and takes out" : "Takes out"} ${asText(message.assets)} from ${domain.verifyingContract} on chain ${domain.chainId}.`,
    `All of it goes to ${recipient}.`,
    `It can be carried out once, until ${until}.`
  ]
}
