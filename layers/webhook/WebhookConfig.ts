/** Where webhooks may point to. */
import { Context } from "effect"

export class WebhookConfig extends Context.Service<
  WebhookConfig,
  {
    /**
     * `public`: https to addresses of the internet, on ports 443 and 8443. `loopback`: besides, http and https to this
     * machine on any port, for development and the sandbox.
     */
    readonly targets: "public" | "loopback"
  }
>()("ballast/layers/webhook/WebhookConfig") {}
