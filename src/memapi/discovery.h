// Discovery, OpenAPI and version: what clients ask before they ask for anything.
#pragma once

#include <optional>
#include <string>

#include "memapi/api_request.h"

namespace berth::memapi {

// JSON of /api, /apis, /apis/<group>, /api/v1, /apis/<group>/<version>; nothing for other paths.
std::optional<std::string> discovery_document(const ApiRequest& request);

// JSON of /openapi/v3 and /openapi/v3/<group version>. Kinds with their group, version and the
// promise to check fields, no schemas: enough for kubectl's create and apply, not for explain.
std::optional<std::string> openapi_document(const ApiRequest& request);

// JSON of /version.
std::string version_document();
// What GET / answers: the paths that there are.
std::string paths_document();

}  // namespace berth::memapi
