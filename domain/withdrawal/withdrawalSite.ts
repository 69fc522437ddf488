/**
 * Where a withdrawal takes place, and what forbids it there. Pure; both stages ask, so that nothing is signed that would
 * be refused. Source: interface "Recipient rules for withdrawals", shapes 2.22 and section 3 item 1.
 */
import { Result } from "effect"
import { addressOf, type AssetId, chainIdOf, type EvmAccountId, type EvmWalletId } from "#domain/Caip.ts"
import type { ChainAuthorization } from "#domain/enrollment/Authorization.ts"
import { type Grant, grantOn } from "#domain/enrollment/Grant.ts"
import {
  ChainMismatch,
  DuplicateAsset,
  RecipientInvalid,
  SettlementUnsupported,
  SmartAccountMissing
} from "#domain/Errors.ts"
import { settlementAssetOn } from "#domain/withdrawal/settlementAsset.ts"

/** What is asked for, from stage 1 or in a signed message. */
export interface WithdrawalTerms {
  /** A wallet on no particular chain is read so far that it can be refused for the right reason. */
  readonly recipientAccountId: EvmAccountId | EvmWalletId
  readonly assets: ReadonlyArray<{ readonly assetId: AssetId; readonly amountRaw: string }>
  readonly liquidate: boolean
}

/** The account that gives, and the grant that counts on its chain. */
export interface WithdrawalSite {
  readonly recipientAccountId: EvmAccountId
  readonly chain: ChainAuthorization
  readonly grant: Grant
  /** Name of the EIP-712 domain in which the owner signs. */
  readonly domainName: string
}

/** What can be wrong with the recipient. */
export type SiteError = RecipientInvalid | SmartAccountMissing | SettlementUnsupported

export type TermsError = SiteError | DuplicateAsset | ChainMismatch

const zeroAddress = `0x${"0".repeat(40)}`

const isChainBound = (id: EvmAccountId | EvmWalletId): id is EvmAccountId => !id.startsWith("eip155:0:")

const accountMissing = (reason: string) =>
  new SmartAccountMissing({
    message: `The portfolio cannot be withdrawn from there: it ${reason}`,
    details: [`recipientAccountId: the portfolio ${reason}`]
  })

const recipientInvalid = (reason: string) =>
  new RecipientInvalid({
    message: `The recipient ${reason}; name an account on the chain of the assets that is not the portfolio's own`,
    details: [`recipientAccountId: ${reason}`]
  })

const duplicatesOf = (assets: WithdrawalTerms["assets"]) =>
  assets.flatMap(({ assetId }, index) => {
    const first = assets.findIndex((other) => other.assetId === assetId)
    return first < index ? [`assets.${index}.assetId: the same as assets.${first}.assetId`] : []
  })

const strayAssets = (assets: WithdrawalTerms["assets"], recipient: EvmAccountId) =>
  assets.flatMap(({ assetId }, index) =>
    chainIdOf(assetId) === chainIdOf(recipient)
      ? []
      : [`assets.${index}.assetId: is on chain ${chainIdOf(assetId)}, the recipient on ${chainIdOf(recipient)}`]
  )

const boundRecipient = (
  recipientAccountId: EvmAccountId | EvmWalletId
): Result.Result<EvmAccountId, RecipientInvalid> => {
  if (!isChainBound(recipientAccountId)) return Result.fail(recipientInvalid("is not bound to a chain"))
  if (addressOf(recipientAccountId) === zeroAddress) return Result.fail(recipientInvalid("is the zero address"))
  return Result.succeed(recipientAccountId)
}

const oneChain = (
  assets: WithdrawalTerms["assets"],
  recipient: EvmAccountId
): Result.Result<EvmAccountId, DuplicateAsset | ChainMismatch> => {
  const duplicates = duplicatesOf(assets)
  if (duplicates.length > 0) {
    return Result.fail(
      new DuplicateAsset({ message: "Name each asset once, with the whole amount", details: duplicates })
    )
  }
  const stray = strayAssets(assets, recipient)
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
  recipientAccountId: EvmAccountId,
  liquidate: boolean,
  grants: ReadonlyArray<Grant>
): Result.Result<WithdrawalSite, SiteError> => {
  const chainId = chainIdOf(recipientAccountId)
  const grant = grantOn(grants, chainId)
  const chain = grant?.authorization.chains.find((candidate) => candidate.chainId === chainId)
  if (grant === undefined || chain === undefined) {
    return Result.fail(accountMissing(`has no smart account on chain ${chainId}`))
  }
  const domainName = grant.authorization.withdrawalDomainName
  if (domainName === null) {
    return Result.fail(accountMissing(`has an account on chain ${chainId} that was made before withdrawals existed`))
  }
  if (chain.accountId === recipientAccountId) {
    return Result.fail(recipientInvalid("is the smart account that the assets are taken from"))
  }
  if (liquidate && settlementAssetOn(chainId) === undefined) {
    return Result.fail(
      new SettlementUnsupported({
        message: `Chain ${chainId} has no settlement asset; withdraw the assets as they are`,
        details: [`recipientAccountId: assets cannot be liquidated on chain ${chainId}`]
      })
    )
  }
  return Result.succeed({ recipientAccountId, chain, grant, domainName })
}

/**
 * Checks in this order, and the first that fails is the answer: the recipient is bound to a chain and is somebody
 * (API_211), no asset is named twice (API_212), all assets are on the recipient's chain (API_213), the portfolio has an
 * account there (API_215), the recipient is another account than that one (API_211), and, to liquidate, the chain has a
 * settlement asset (API_219).
 */
export const siteOf = (
  { assets, liquidate, recipientAccountId }: WithdrawalTerms,
  grants: ReadonlyArray<Grant>
): Result.Result<WithdrawalSite, TermsError> =>
  boundRecipient(recipientAccountId).pipe(
    Result.flatMap((recipient) => oneChain(assets, recipient)),
    Result.flatMap((recipient) => siteOn(recipient, liquidate, grants))
  )

/** Where everything is to be liquidated: the checks above that do not concern assets. */
export const siteOfAll = (
  recipientAccountId: WithdrawalTerms["recipientAccountId"],
  grants: ReadonlyArray<Grant>
): Result.Result<WithdrawalSite, SiteError> =>
  Result.flatMap(boundRecipient(recipientAccountId), (recipient) => siteOn(recipient, true, grants))
