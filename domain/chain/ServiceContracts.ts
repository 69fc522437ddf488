/** Port: the contracts that the service itself builds on. None of them gives back what is sent to it. */
import { Context } from "effect"
import type { ChainId, EvmAddress } from "#domain/Caip.ts"

export class ServiceContracts extends Context.Service<
  ServiceContracts,
  { readonly on: (chainId: ChainId) => ReadonlySet<EvmAddress> }
>()("ballast/domain/chain/ServiceContracts") {}
