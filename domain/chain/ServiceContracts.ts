/** Port: the contracts that the service itself builds on. None of them gives back what is sent to it. */
import { Context } from "effect"
import type { ChainId, Address } from "#domain/values/Caip.ts"

/**
 * Contracts that the service itself builds on.
 *
 * **When to use**
 *
 * Use to refuse a recipient that would not give back what it receives.
 */
export class ServiceContracts extends Context.Service<
  ServiceContracts,
  { readonly on: (chainId: ChainId) => ReadonlySet<Address> }
>()("ballast/domain/chain/ServiceContracts") {}
