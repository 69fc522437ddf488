/** The portfolio of a withdrawal, as far as both stages need it. */
import type { OwnedPortfolio } from "#domain/account/OwnedPortfolio.ts"
import type { SwapSources } from "#domain/strategy/resolveSwap.ts"

export interface WithdrawalSource extends OwnedPortfolio {
  readonly swap: SwapSources
}
