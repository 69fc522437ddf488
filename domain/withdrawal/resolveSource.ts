/**
 * Where a withdrawal takes place, and what forbids it there. Pure; checked at both stages, so that nothing is signed
 * that would be refused. Source: interface "Recipient rules for withdrawals", shapes 2.22 and section 3 item 1.
 */
import { Option, Result, Schema } from "effect"
import {
  addressOf,
  type ChainId,
  chainIdOf,
  type Address,
  AccountId,
  type HeldAssetId,
  isNative,
  isOnNoChain,
  namespaceOf
} from "#domain/values/Caip.ts"
import type { ChainAuthorization } from "#domain/account/Authorization.ts"
import { type Grant, grantOn } from "#domain/account/Grant.ts"
import type { Families } from "#domain/chain/Families.ts"
import { nativeCoinOn } from "#domain/chain/nativeCoins.ts"
import {
  ChainMismatch,
  DuplicateAsset,
  RecipientInvalid,
  SettlementUnsupported,
  SmartAccountMissing,
  ValidationFailed
} from "#domain/errors/Errors.ts"
import { lossOnChain } from "#domain/withdrawal/lossOf.ts"
import { settlementAssetOn } from "#domain/withdrawal/settlementAsset.ts"

/** The request, from stage 1 or in a signed message. */
export interface WithdrawalTerms {
  /** Recipient as it was sent; anything but an account that is bound to a chain is refused here. */
  readonly recipientAccountId: string
  readonly assets: ReadonlyArray<{ readonly assetId: HeldAssetId; readonly amountRaw: string }>
  readonly liquidate: boolean
}

/** The portfolio and the deployment that the terms are held against. */
export interface SourceContext {
  /** Oldest first. */
  readonly grants: ReadonlyArray<Grant>
  /** The service's contracts on a chain. */
  readonly contracts: (chainId: ChainId) => ReadonlySet<Address>
  readonly families: Families["Service"]
  /** Prefix of a field's name: `message.` where the terms are in a signed message. */
  readonly at: "" | "message."
}

/** The account that gives, and the grant that counts on its chain. */
export interface ResolvedSource {
  readonly recipientAccountId: AccountId
  readonly chain: ChainAuthorization
  readonly grant: Grant
  /** Name of the domain of typed data in which the owner signs, or the first line of the text that is signed. */
  readonly domainName: string
}

/** What can be wrong with the recipient. */
export type SourceError = RecipientInvalid | SmartAccountMissing | SettlementUnsupported

export type TermsError = SourceError | DuplicateAsset | ChainMismatch | ValidationFailed

type At = SourceContext["at"]

const decodeAccount = Schema.decodeUnknownOption(AccountId)

const accountMissing = (at: At, reason: string) =>
  new SmartAccountMissing({
    message: `The portfolio cannot be withdrawn from there: it ${reason}`,
    details: [`${at}recipientAccountId: the portfolio ${reason}`]
  })

export const recipientInvalid = (at: At, reason: string) =>
  new RecipientInvalid({
    message: `The recipient ${reason}; name an account of somebody, on the chain of the assets`,
    details: [`${at}recipientAccountId: ${reason}`]
  })

const duplicatesOf = (at: At, assets: WithdrawalTerms["assets"]) =>
  assets.flatMap(({ assetId }, index) => {
    const first = assets.findIndex((other) => other.assetId === assetId)
    return first < index ? [`${at}assets.${index}.assetId: the same as ${at}assets.${first}.assetId`] : []
  })

const strayAssets = (at: At, assets: WithdrawalTerms["assets"], recipient: AccountId) =>
  assets.flatMap(({ assetId }, index) =>
    chainIdOf(assetId) === chainIdOf(recipient)
      ? []
      : [`${at}assets.${index}.assetId: is on chain ${chainIdOf(assetId)}, the recipient on ${chainIdOf(recipient)}`]
  )

const boundRecipient = (text: string, { at, families }: SourceContext): Result.Result<AccountId, RecipientInvalid> => {
  const recipient = decodeAccount(text)
  if (Option.isNone(recipient)) {
    const reason = isOnNoChain(text)
      ? "is not bound to a chain"
      : "is no account of the form eip155:<chainId>:<address>, with a valid EIP-55 checksum when mixed-case, or solana:<reference>:<base58>"
    return Result.fail(recipientInvalid(at, reason))
  }
  const loss = families[namespaceOf(recipient.value)].lossAt(addressOf(recipient.value))
  return loss === undefined ? Result.succeed(recipient.value) : Result.fail(recipientInvalid(at, loss))
}

const oneChain = (
  assets: WithdrawalTerms["assets"],
  recipient: AccountId,
  at: At
): Result.Result<AccountId, DuplicateAsset | ChainMismatch> => {
  const duplicates = duplicatesOf(at, assets)
  if (duplicates.length > 0) {
    return Result.fail(
      new DuplicateAsset({ message: "Name each asset once, with the whole amount", details: duplicates })
    )
  }
  const stray = strayAssets(at, assets, recipient)
  if (stray.length > 0) {
    return Result.fail(
      new ChainMismatch({
        message: "One withdrawal is on one chain; withdraw from each chain to a recipient on it",
        details: stray
      })
    )
  }
  return Result.succeed(recipient)
}

const siteOn = (
  recipientAccountId: AccountId,
  { assets, liquidate }: Pick<WithdrawalTerms, "assets" | "liquidate">,
  { at, contracts, families, grants }: SourceContext
): Result.Result<ResolvedSource, SourceError> => {
  const chainId = chainIdOf(recipientAccountId)
  const grant = grantOn(grants, chainId)
  const chain = grant?.authorization.chains.find((candidate) => candidate.chainId === chainId)
  if (grant === undefined || chain === undefined) {
    return Result.fail(accountMissing(at, `has no smart account on chain ${chainId}`))
  }
  const domainName = grant.authorization.withdrawalDomainName
  if (domainName === null) {
    return Result.fail(
      accountMissing(at, `has an account on chain ${chainId} that was made before withdrawals existed`)
    )
  }
  if (chain.accountId === recipientAccountId) {
    return Result.fail(recipientInvalid(at, "is the smart account that the assets are taken from"))
  }
  const loss = lossOnChain(addressOf(recipientAccountId), { chain, assets, contracts: contracts(chainId) })
  if (loss !== undefined) return Result.fail(recipientInvalid(at, loss))
  if (liquidate && settlementAssetOn(families, chainId) === undefined) {
    return Result.fail(
      new SettlementUnsupported({
        message: `Chain ${chainId} has no settlement asset; withdraw the assets as they are`,
        details: [`${at}recipientAccountId: assets cannot be liquidated on chain ${chainId}`]
      })
    )
  }
  return Result.succeed({ recipientAccountId, chain, grant, domainName })
}

/** The owner signs the withdrawal of a native coin as an operation of the account, which does that one thing. */
const requireAlone = ({ assets, liquidate }: WithdrawalTerms, at: At): Result.Result<void, ValidationFailed> => {
  const problems = assets.flatMap(({ assetId }, index) => {
    if (!isNative(assetId)) return []
    const field = `${at}assets.${index}.assetId`
    const coin = nativeCoinOn(chainIdOf(assetId))?.assetId
    if (assetId !== coin)
      return [
        `${field}: ${assetId} is not the native coin of its chain${coin === undefined ? "" : `, which is ${coin}`}`
      ]
    if (liquidate) return [`${field}: ${assetId} is never sold; withdraw it as it is`]
    return assets.length === 1 ? [] : [`${field}: ${assetId} is withdrawn alone; withdraw the others apart from it`]
  })
  return problems.length === 0
    ? Result.void
    : Result.fail(
        new ValidationFailed({ message: "The native coin cannot be withdrawn in this way", details: problems })
      )
}

/**
 * Checks in this order, and the first that fails is the answer: the recipient is bound to a chain and is no address
 * that loses on any (API_211), no asset is named twice (API_212), all assets are on the recipient's chain (API_213), a
 * native coin is that of its chain and alone (API_400), the portfolio has an account there (API_215), the recipient is
 * another account than that one and none that loses what it gets (API_211), and, to liquidate, the chain has a
 * settlement asset (API_219).
 */
export const resolveSource = (
  terms: WithdrawalTerms,
  context: SourceContext
): Result.Result<ResolvedSource, TermsError> =>
  boundRecipient(terms.recipientAccountId, context).pipe(
    Result.flatMap((recipient) => oneChain(terms.assets, recipient, context.at)),
    Result.flatMap((recipient) => Result.map(requireAlone(terms, context.at), () => recipient)),
    Result.flatMap((recipient) => siteOn(recipient, terms, context))
  )

/** Where everything is to be liquidated: the checks above that do not concern assets. */
export const resolveWholeSource = (
  recipientAccountId: string,
  context: SourceContext
): Result.Result<ResolvedSource, SourceError> =>
  Result.flatMap(boundRecipient(recipientAccountId, context), (recipient) =>
    siteOn(recipient, { assets: [], liquidate: true }, context)
  )
