/** The portfolio that a signed-in owner may act on, and how a swap of it is refused. */
import { Effect, Option } from "effect"
import type { ChainId } from "#domain/values/Caip.ts"
import { authorizedChains } from "#domain/account/Grant.ts"
import type { OrderSource, OrderStore } from "#domain/order/OrderStore.ts"
import { PortfolioNotFound, ValidationFailed } from "#domain/errors/Errors.ts"
import { SignedIn } from "#domain/identity/SignedIn.ts"
import { contractWallet } from "#domain/identity/User.ts"
import type { PortfolioId } from "#domain/values/Ids.ts"

/** The wallet by which the owner signs in: a contract is a wallet of its one chain alone. */
const ownerWalletOf = ({ grants, ownerAccountId }: OrderSource): string => {
  const { accountType, chains } = grants[0].authorization
  return accountType === "ERC1271" ? contractWallet(chains[0].chainId, ownerAccountId) : ownerAccountId
}

/** Portfolios of other owners are not there. */
export const ownPortfolio = Effect.fnUntraced(function* (store: OrderStore["Service"], portfolioId: PortfolioId) {
  const { walletId } = yield* SignedIn
  const source = yield* store.source(portfolioId)
  if (Option.isNone(source) || ownerWalletOf(source.value) !== walletId) {
    return yield* new PortfolioNotFound({ message: `There is no portfolio ${portfolioId} of this wallet` })
  }
  return source.value
})

/** The portfolio's account on a chain; undefined where it has none. */
export const accountOn = ({ grants }: OrderSource, chainId: ChainId) =>
  authorizedChains(grants).find((chain) => chain.chainId === chainId)?.accountId

/** `details` name fields as `params.<field>: reason`. */
export const refusedSwap = (details: ReadonlyArray<string>) =>
  new ValidationFailed({
    message: "The swap is not one that can be made; details name each field",
    details: [...details]
  })

export const noAccount = (field: string, chainId: ChainId) =>
  refusedSwap([`params.${field}: the portfolio has no account on chain ${chainId}`])
