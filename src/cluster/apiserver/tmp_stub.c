#include "src/cluster/apiserver/crd/custom.h"
#include "src/cluster/apiserver/crd/controller.h"
#include "src/cluster/apiserver/strategy.h"
#include "src/cluster/apiserver/ownership.h"
uint32_t custom_schema_mark(const struct resource *res) {(void)res; return 0;}
void custom_on_write(struct arena *a, const struct resource *res, struct jsn *object, struct type_notes *notes){(void)a;(void)res;(void)object;(void)notes;}
void custom_default(struct arena *a, const struct resource *res, struct jsn *object){(void)a;(void)res;(void)object;}
void custom_on_read(struct arena *a, const struct resource *res, struct jsn *object){(void)a;(void)res;(void)object;}
void custom_validate(struct causes *cs, const struct resource *res, const struct jsn *object, const struct jsn *old){(void)cs;(void)res;(void)object;(void)old;}
struct crd_controller *crd_controller_new(struct apiserver *s){(void)s; return NULL;}
struct crd_controller *crd_controller_free(struct crd_controller *c){(void)c;return NULL;}
int crd_controller_start(struct crd_controller *c, struct err *e){(void)c;(void)e;return 0;}
void crd_controller_event(struct crd_controller *c, const struct store_event *ev){(void)c;(void)ev;}
