/** A page that makes one call of the API. */
import { connect } from "ballast/client"

document.title = await connect({ baseUrl: "http://127.0.0.1:3000", apiKey: "bk_..." })
  .whoami()
  .then(({ tenantName }) => tenantName)
