// What order.py finds, and what it lets pass; nobody compiles it.
int append(list* l, int value);
int pair(list* l, int a, int b);
int length(const list* l);
#define NUMBER(v) append(l, v)

static int faults(list* l, int x) {
  int a = pair(l, append(l, 1), append(l, 2));
  int b = pair(l, NUMBER(1), // the comment's (
               append(l, 2));
  int c = pair(l, pair(l, append(l, 1), x), x > 0 ? NUMBER(3) : 4);
  int d = l->items[append(l, 4)];
  return a + b + c + d;
}

static int fine(list* l, int x) {
  int last = append(l, 2), a = pair(l, append(l, 1), last);
  return pair(l, append(l, length(l)), length(l)) + a + l->items[last] + l->items[length(l)];
}
