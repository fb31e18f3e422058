var J,Pn,xr,Ie,Vt,yt,Fn,gt,jn,Gt,Jt,Tr,rt=Symbol.for("pv"),wt={},kt=[],Sr=/^m(i|n|o|s|text|space)$/,Qt=Array.isArray,Yt=kt.slice,ze=Object.assign;function Ke(e){e&&e.parentNode&&e.remove()}function qn(e,t,n){var o,a,r,i={},l=arguments.length;for(r in t)r=="key"?o=t[r]:r=="ref"&&typeof e!="function"?a=t[r]:i[r]=t[r];return l>2&&(i.children=l>3?Yt.call(arguments,2):n),ot(e,i,o,a,null)}function ot(e,t,n,o,a){var r={type:e,props:t,key:n,ref:o,__k:null,__:null,__b:0,__e:null,__c:null,constructor:rt,__v:a||++Pn,__i:-1,__u:0};return!a&&J.vnode&&J.vnode(r),r}function Et(e){return e.children}function vt(e,t){this.props=e,this.context=t,this.__g=0}function Ne(e,t){if(t==null)return e.__&&Ne(e.__,e.__i+1);for(var n;t<e.__k.length;t++)if((n=e.__k[t])&&n.__e)return n.__e;return typeof e.type!="function"||e.props.__P?null:Ne(e)}function Cr(e){var t,n=e.__v,o=n.__e,a=[],r=[],i=e.__P;i&&((t=ze({constructor:rt},n)).__v=n.__v+1,J.vnode&&J.vnode(t),Xt(i,t,n,e.__n,i.namespaceURI,32&n.__u?[o]:null,a,o||Ne(n),32&n.__u,r),t.__v=n.__v,t.__.__k[t.__i]=t,zn(a,t,r),n.__=n.__e=null,t.__e!=o&&Un(t))}function Un(e){if((e=e.__)&&e.__c&&!e.props.__P)return e.__e=null,e.__k.some(function(t){return t&&(e.__e=t.__e)}),Un(e)}function Mn(e){(8&e.__g||(e.__g|=8,Ie.push(e),yt++))&&Vt==J.debounceRendering||((Vt=J.debounceRendering)||queueMicrotask)(Hn)}function Hn(){try{for(var e,t=1;Ie.length;)Ie.length>t&&Ie.sort(Fn),e=Ie.shift(),t=Ie.length,8&e.__g&&Cr(e)}finally{(yt=Ie.length)&&(Vt||queueMicrotask)(Hn)}}function Wn(e,t,n,o,a,r,i,l,u,p,c){var h,d,m,f,g,$,S=o.__k||kt,y=t.length;for(u=Rr(n,t,S,u,y),h=0;h<y;h++)(m=n.__k[h])!=null&&(d=~m.__i&&S[m.__i]||wt,m.__i=h,$=Xt(e,m,d,a,r,i,l,u,p,c),f=m.__e,(d.ref!=m.ref||8&d.__u)&&(d.ref&&Zt(d.ref,null,m,d),m.ref&&c.push(m.ref,m.__c||f,m)),g=g||f,4&m.__u?(u=Bn(m,u,e,!d.__v),d.__e&&(d.__e=null)):typeof m.type=="function"&&$!==void 0?u=$:f&&(u=f.nextSibling),m.__u&=-21);return n.__e=g,u}function Rr(e,t,n,o,a){var r,i,l,u,p,c,h,d,m,f=n.length,g=f,$=0,S=0,y=e.__k=Array(a);for(r=0;r<a;r++)(i=t[r])!=null&&typeof i!="boolean"&&typeof i!="function"?(typeof i!="object"||i.constructor===String?i=y[r]=ot(null,i):Qt(i)?i=y[r]=ot(Et,{children:i}):i.constructor===rt&&i.__b?i=y[r]=ot(i.type,i.props,i.key,i.ref,i.__v):y[r]=i,u=r+$,i.__=e,i.__b=e.__b+1,l=null,~(p=i.__i=Dr(i,n,u,g))&&(g--,(l=n[p])&&(l.__u|=2)),l&&l.__v?(i.__u|=16,p==u-1?$--:p==u+1?$++:p!=u&&(p>u?$--:$++,S=1)):(~p||(a>f?$--:a<f&&$++),typeof i.type!="function"&&(i.__u|=4))):y[r]=null;if(S){for(c=[],h=[],r=0;r<a;r++)if((i=y[r])&&16&i.__u){for($=0,d=c.length;$<d;)c[m=$+d>>1]<i.__i?$=m+1:d=m;c[$]=i.__i,h[r]=$+1}for($=c.length;r--;)h[r]&&(h[r]==$?$--:y[r].__u|=4)}if(g)for(r=0;r<f;r++)!(l=n[r])||2&l.__u||(l.__e==o&&(o=Ne(l)),en(l,l));return o}function Bn(e,t,n,o){var a,r,i,l;if(typeof e.type=="function"){if(e.props.__P)return t;if(a=e.__k)for(r=0;r<a.length;r++)a[r]&&(a[r].__=e,t=Bn(a[r],t,n,!1));return t}for(t&&!t.parentNode&&(t=Ne(e))&&!t.parentNode&&(t=null),i=e.__e,l=t;l&&l.nodeType==8;)l=l.nextSibling;for(i!=l&&(!o&&n.moveBefore&&i.parentNode?n.moveBefore(i,t):n.insertBefore(i,t||null)),t=i;(t=t&&t.nextSibling)&&t.nodeType==8&&!t.data.startsWith("$s"););return t}function Dr(e,t,n,o){var a,r=e.key,i=e.type,l=t[n],u=l&&!(2&l.__u);if(l===null&&r==null||u&&r==l.key&&i==l.type)return n;if(o>(u?1:0)){for(a=n-1;a>=0;a--)if((l=t[a])&&!(2&l.__u)&&r==l.key&&i==l.type)return a;for(a=n+1;a<t.length;a++)if((l=t[a])&&!(2&l.__u)&&r==l.key&&i==l.type)return a}return-1}function Ln(e,t,n){n==null&&(n=""),t[0]=="-"?e.setProperty(t,n):e[t]=n}function _t(e,t,n,o,a){var r,i;if(t=="style")if(typeof n=="string")e.style.cssText=n;else{if(typeof o=="string"&&(e.style.cssText=o=""),o)for(t in o)n&&t in n||Ln(e.style,t);if(n)for(t in n)o&&n[t]==o[t]||Ln(e.style,t,n[t])}else if(t[0]=="o"&&t[1]=="n")typeof n!="function"&&(n=null),typeof o!="function"&&(o=null),(e.__e||(e.__e={}))[t]=n,n&&o||(i=Jt[t]||(Jt[t]=Or(t)),(e.__a||(e.__a={}))[t]=Gt,r=t!=(t=t.replace(jn,"$1")),(t=t.slice(2))[0]<"a"&&(t=t.toLowerCase()),n?e.addEventListener(t,i,r):e.removeEventListener(t,i,r));else{if(a=="http://www.w3.org/2000/svg")t=t.replace(/xlink(H|:h)/,"h").replace(/sName$/,"s");else if(t!="width"&&t!="height"&&t!="href"&&t!="list"&&t!="form"&&t!="tabIndex"&&t!="download"&&t!="rowSpan"&&t!="colSpan"&&t!="role"&&t!="popover"&&t in e)try{return void(e[t]=n??"")}catch{}if(typeof n=="function")return;n==null||n===!1&&t[4]!="-"?e.removeAttribute(t):e.setAttribute(t,t=="popover"&&n==1?"":n)}}function Or(e){return function(t){var n=this.__e;if(n){if(n=n[e],t[gt]==null)t[gt]=Gt++;else if(t[gt]<this.__a[e])return;return n(J.event?J.event(t):t)}}}function Xt(e,t,n,o,a,r,i,l,u,p){var c,h,d,m,f,g,$,S,y,A,N,k,V,ae,w,O,P,W,j=t.type;if(t.constructor!==rt)return null;128&n.__u&&(u=32&n.__u,c=n.__c.__z)&&(t.__u|=u,h=r=[],c.nodeType==8?l=bt(c,r):r.push(c),l=r[0]||l),(c=J.__b)&&c(t);e:if(typeof j=="function"){d=i.length;try{if(S=t.props,y=(c=j.prototype)&&c.render,A=(c=j.contextType)&&o[c.__c],N=c?A?A.props.value:c.__:o,(m=n.__c)?(t.__c=m,2&m.__g&&(m.__g|=1)):(y?t.__c=m=new j(S,N):(t.__c=m=new vt(S,N),m.constructor=j,m.render=Ir),A&&A.sub(m),m.state||(m.state={}),m.__n=o,m.__g|=8,m.__h=[],m.__k=[]),y&&(m.__s||(m.__s=m.state),j.getDerivedStateFromProps&&(m.__s==m.state&&(m.__s=ze({},m.__s)),ze(m.__s,j.getDerivedStateFromProps(S,m.__s)))),f=m.props,g=m.state,m.__v=t,n.__c){if(S!==f&&y&&!j.getDerivedStateFromProps&&m.componentWillReceiveProps&&m.componentWillReceiveProps(S,N),t.__v==n.__v&&!(8&m.__g)||!(4&m.__g)&&m.shouldComponentUpdate&&m.shouldComponentUpdate(S,m.__s,N)===!1){t.__v!=n.__v&&(m.props=S,m.state=m.__s,m.__g&=-9),t.__e=n.__e,t.__k=n.__k,t.__k.some(function(v){v&&(v.__=t)}),kt.push.apply(m.__h,m.__k),m.__k=[],m.__h.length&&i.push(m),l=Ne(n);break e}m.componentWillUpdate&&m.componentWillUpdate(S,m.__s,N),y&&m.componentDidUpdate&&m.__h.push(function(){m.componentDidUpdate(f,g,$)})}else y&&!j.getDerivedStateFromProps&&m.componentWillMount&&m.componentWillMount(),y&&m.componentDidMount&&m.__h.push(m.componentDidMount);m.context=N,m.props=S,m.__P=e,m.__g&=-5,k=J.__r,V=y?25:0;do m.__g&=-9,k&&k(t),c=m.render(m.props,m.state=m.__s,m.context);while(8&m.__g&&++V<25);y&&(kt.push.apply(m.__h,m.__k),m.__k=[]),m.state=m.__s,m.getChildContext&&(o=ze({},o,m.getChildContext())),y&&n.__c&&m.getSnapshotBeforeUpdate&&($=m.getSnapshotBeforeUpdate(f,g)),ae=c&&c.type===Et&&c.key==null?c.props.children:c,S.__P&&(c=l,a=(e=S.__P).namespaceURI,u=r=null,n.props&&n.props.__P!=e&&(n.__k.some(function(v){v&&en(v,v)}),n.__k=null),l=n.__k?Ne(n,0):null),l=Wn(e,Qt(ae)?ae:[ae],t,n,o,a,r,i,l,u,p),S.__P&&(t.__e=null,l=c),t.__u&=-161,h&&h.some(Ke),m.__h.length&&i.push(m),1&m.__g&&(m.__g&=-4)}catch(v){if(i.length=d,t.__v=null,u||r)if(v&&v.then){if(t.__u|=128|u,r){for(~(P=r.indexOf(l||void 0))||(P=r.length);(W=r[P-1])&&W.nodeType==8;)P--;for(;P<r.length;P++)if(W=r[P])if(r[P]=null,w){if(W==O)break}else{if(W.nodeType!=8)break;W.data.startsWith("$s")&&(O=bt(w=W))}}if(!w){for(;l&&l.nodeType==8&&l.nextSibling;)l=l.nextSibling;w=l}(c=bt(w=t.__c.__z||(t.__c.__z=w)))?(t.__e=w,l=c):t.__e=l,l=l&&l.nextSibling}else r&&r.some(Ke);else t.__e=n.__e;t.__k||(t.__k=n.__k||[]),v&&v.then||Kn(t),J.__e(v,t,n)}}else l=t.__e=Ar(n.__e,t,n,o,a,r,i,u,p,e);return(c=J.diffed)&&c(t),l}function bt(e,t){if(e&&e.nodeType==8&&e.data.startsWith("$s"))for(var n=1;e=e.nextSibling;){if(e.nodeType==8){if(e.data.startsWith("$s"))n++;else if(e.data.startsWith("/$s")&&!--n)return e}t&&t.push(e)}}function Kn(e){e&&(e.__c&&(e.__c.__g|=4),e.__k&&e.__k.some(Kn))}function zn(e,t,n){for(var o=0;o<n.length;)Zt(n[o++],n[o++],n[o++]);J.__c&&J.__c(t,e),e.some(function(a){try{e=a.__h,a.__h=[],e.some(function(r){r.call(a)})}catch(r){J.__e(r,a.__v)}})}function Ar(e,t,n,o,a,r,i,l,u,p){var c,h,d,m,f,g,$,S,y=n.props||wt,A=t.props,N=t.type;if(N=="svg"?a="http://www.w3.org/2000/svg":N=="math"?a="http://www.w3.org/1998/Math/MathML":a||(a="http://www.w3.org/1999/xhtml"),r){for(c=0;c<r.length;c++)if((f=r[c])&&(N?f.localName==N:f.nodeType==3)){e=f,r[c]=null;break}}if(!e){if(S=p.ownerDocument||document,!N)return S.createTextNode(A);e=S.createElementNS(a,N,A.is?A:p),l&&(J.__m&&J.__m(t,r),l=!1),r=null}if(N){if(p=N=="template"&&e.content||e,r=N=="textarea"&&A.defaultValue!=null?null:r&&Yt.call(p.childNodes),!l&&r)for(y={},c=0;c<e.attributes.length;c++)y[(f=e.attributes[c]).name]=f.value;for(c in y)f=y[c],c=="dangerouslySetInnerHTML"?d=f:c=="children"||c in A||c=="value"&&"defaultValue"in A||c=="checked"&&"defaultChecked"in A||_t(e,c,null,f,a);for(c in A)f=A[c],c=="children"?m=f:c=="dangerouslySetInnerHTML"?h=f:c=="value"?g=f:c=="checked"?$=f:l&&typeof f!="function"||y[c]===f||_t(e,c,f,y[c],a);h?(l||d&&(h.__html==d.__html||h.__html==e.innerHTML)||(e.innerHTML=h.__html),t.__k=[]):(d&&(e.textContent=""),(N=="foreignObject"||a=="http://www.w3.org/1998/Math/MathML"&&Sr.test(N))&&(a="http://www.w3.org/1999/xhtml"),Wn(p,Qt(m)?m:[m],t,n,o,a,r,i,r?r[0]:n.__k&&Ne(n,0),l,u),r&&r.some(Ke)),l&&N!="textarea"||(c="value",N=="progress"&&g==null?e.removeAttribute(c):g==null||g===e[c]&&(N!="progress"||g)||_t(e,c,g,y[c],a),c="checked",$!=null&&$!=e[c]&&_t(e,c,$,y[c],a))}else y===A||l&&e.data==A||(e.data=A);return e}function Zt(e,t,n,o){try{typeof e=="function"?t?t.__x=e(t)||1:o&&(o=o.__c||o.__e)&&(t=o.__x)&&(o.__x=null,typeof t=="function"?t():e(null)):e.current=t}catch(a){J.__e(a,n)}}function en(e,t,n){var o,a,r,i;if(J.unmount&&J.unmount(e),!(o=e.ref)||o.current&&o.current!=e.__e||Zt(o,null,t,e),o=e.__c){if(o.componentWillUnmount)try{o.componentWillUnmount()}catch(l){J.__e(l,t)}o.__P=o.__n=null}if(o=e.__k)for(i=0;i<o.length;i++)o[i]&&en(o[i],t,typeof e.type!="function"||n&&!e.props.__P);!n&&(o=e.__c)&&(o=o.__z)&&(a=bt(o,r=[]))&&(o==e.__e&&r.some(Ke),Ke(a),Ke(o)),n||Ke(e.__e),e.__e=e.__c=e.__=null}function Ir(e,t,n){return this.constructor(e,n)}function Vn(e,t){var n,o,a,r;J.__&&J.__(e,t),t.nodeType==9&&(t=t.documentElement),o=(n=e&&32&e.__u)?null:t.__k,t.__k=ot(Et,{children:[e]}),a=[],r=[],Xt(t,t.__k,o||wt,wt,t.namespaceURI,o?null:t.firstChild?Yt.call(t.childNodes):null,a,o?o.__e:t.firstChild,n,r),zn(a,t.__k,r),t.__k.props.children=null}J={__e:function(e,t,n,o){for(var a,r,i;t=t.__;)if((a=t.__c)&&!(1&a.__g)){a.__g|=4;try{if((i=(r=a.constructor)&&r.getDerivedStateFromError)&&a.setState(r.getDerivedStateFromError(e)),a.componentDidCatch&&(a.componentDidCatch(e,o||{}),i=1),i&&8&a.__g)return void(a.__g|=2)}catch(l){e=l}}throw yt=0,e}},Pn=0,xr=function(e){return e!=null&&e.constructor===rt},vt.prototype.setState=function(e,t){var n=this.__s;n&&n!=this.state||(n=this.__s=ze({},this.state)),typeof e=="function"&&(e=e(ze({},n),this.props)),e&&(ze(n,e),this.__v&&(t&&this.__k.push(t),Mn(this)))},vt.prototype.forceUpdate=function(e){this.__v&&(this.__g|=4,e&&this.__h.push(e),Mn(this))},vt.prototype.render=Et,Ie=[],yt=0,Fn=function(e,t){return e.__v.__b-t.__v.__b},gt=Symbol(),jn=/(PointerCapture)$|Capture$/i,Gt=0,Jt={},Tr=0;var Ve,te,tn,Jn,nn=Object.is,xt=0,oo=[],on=[],ee=J,Gn=ee.__b,Qn=ee.__r,Yn=ee.diffed,Xn=ee.__c,Zn=ee.unmount,eo=ee.__;function at(e,t){ee.__h&&ee.__h(te,e,xt||t),xt=0;var n=te.__H||(te.__H={__:[],__h:[]});return e>=n.__.length&&n.__.push({}),n.__[e]}function _(e){return xt=1,Nr(ro,e)}function Nr(e,t,n){var o=at(Ve++,2);if(o.t=e,!o.__c&&(o.__=[n?n(t):ro(void 0,t),function(r){var i=(o.__N||o.__)[0],l=o.t(i,r);nn(i,l)||(o.__N=[l,o.__[1]],o.__c.setState({}))}],o.__c=te,!te.__f)){te.__f=!0;var a=te.shouldComponentUpdate;te.shouldComponentUpdate=function(r,i,l){var u=this.__H;if(!u)return!0;var p=!1,c=this.props!=r;if(u.__.some(function(d){d.__N&&(p=!0,nn(d.__[0],d.__N[0])||(c=!0))}),a){var h=a.call(this,r,i,l);return p?h||c:h}return!p||c}}return o.__}function T(e,t){var n=at(Ve++,3);!ee.__s&&sn(n.__H,t)&&(n.__P=!0,n.__=e,n.u=t,te.__H.__h.push(n))}function it(e,t){var n=at(Ve++,4);!ee.__s&&sn(n.__H,t)&&(n.__P=!1,n.__=e,n.u=t,te.__h.push(n))}function Y(e){return xt=5,me(function(){return{current:e}},[])}function me(e,t){var n=at(Ve++,7);return sn(n.__H,t)&&(n.__=e(),n.__H=t),n.__}function lt(){var e=at(Ve++,11);if(!e.__){for(var t=te.__v;!t.__m&&t.__;)t=t.__;var n=t.__m||(t.__m=[0,0]);e.__="P"+n[0]+"-"+n[1]++}return e.__}function Mr(){var e;do{for(;e=on.shift();)try{st(e)}catch(n){ee.__e(n,{__:(e=e.__P)&&e.__v})}for(;e=oo.shift();){var t=e.__H;if(e.__P&&t)try{t.__h.some(st),t.__h.some(rn),t.__h=[]}catch(n){t.__h=[],ee.__e(n,e.__v)}}}while(on.length)}ee.__b=function(e){te=null,Gn&&Gn(e)},ee.__=function(e,t){e&&t.__k&&t.__k.__m&&(e.__m=t.__k.__m),eo&&eo(e,t)},ee.__r=function(e){Qn&&Qn(e),Ve=0;var t=(te=e.__c).__H;t&&(tn==te?te.__h=[]:(t.__h.some(st),t.__h.some(rn),Ve=0),t.__h=[],t.__.some(function(n){n.__N&&(n.__=n.__N),n.u=n.__N=void 0})),tn=te},ee.diffed=function(e){Yn&&Yn(e);var t=e.__c;t&&t.__H&&(t.__H.__h.length&&no(oo.push(t)),t.__H.__.some(function(n){n.u&&(n.__H=n.u)})),tn=te=null},ee.__c=function(e,t){t.some(function(n){try{n.__h.some(st),n.__h=n.__h.filter(function(o){return!o.__||rn(o)})}catch(o){n.__h=[function(){throw o}]}}),Xn&&Xn(e,t)},ee.unmount=function(e){Zn&&Zn(e);var t,n,o=e.__c;o&&o.__H&&(o.__H.__.some(function(a){try{if(a.__P&&a.__c){if(n===void 0){for(n=e.__;n&&(!n.__c||!n.__c.__P);)n=n.__;n=n&&n.__c}a.__P=n,no(on.push(a))}else st(a)}catch(r){t=r}}),o.__H=void 0,t&&ee.__e(t,o.__v))};var to=typeof requestAnimationFrame=="function";function Lr(e){var t,n=function(){clearTimeout(o),to&&cancelAnimationFrame(t),setTimeout(e)},o=setTimeout(n,35);to&&(t=requestAnimationFrame(n))}function no(e){e!=1&&Jn==ee.requestAnimationFrame||((Jn=ee.requestAnimationFrame)||Lr)(Mr)}function st(e){var t=te,n=e.__c;typeof n=="function"&&(e.__c=void 0,n()),te=t}function rn(e){var t=te;e.__c=e.__(),te=t}function sn(e,t){return!e||e.length!=t.length||t.some(function(n,o){return!nn(n,e[o])})}function ro(e,t){return typeof t=="function"?t(e):t}var ao=function(e,t,n,o){var a;t[0]=0;for(var r=1;r<t.length;r++){var i=t[r++],l=t[r]?(t[0]|=i?1:2,n[t[r++]]):t[++r];i===3?o[0]=l:i===4?o[1]=Object.assign(o[1]||{},l):i===5?(o[1]=o[1]||{})[t[++r]]=l:i===6?o[1][t[++r]]+=l+"":i?(a=e.apply(l,ao(e,l,n,["",null])),o.push(a),l[0]?t[0]|=2:(t[r-2]=0,t[r]=a)):o.push(l)}return o},so=new Map;function io(e){var t=so.get(this);return t||(t=new Map,so.set(this,t)),(t=ao(this,t.get(e)||(t.set(e,t=(function(n){for(var o,a,r=1,i="",l="",u=[0],p=function(d){r===1&&(d||(i=i.replace(/^\s*\n\s*|\s*\n\s*$/g,"")))?u.push(0,d,i):r===3&&(d||i)?(u.push(3,d,i),r=2):r===2&&i==="..."&&d?u.push(4,d,0):r===2&&i&&!d?u.push(5,0,!0,i):r>=5&&((i||!d&&r===5)&&(u.push(r,0,i,a),r=6),d&&(u.push(r,d,0,a),r=6)),i=""},c=0;c<n.length;c++){c&&(r===1&&p(),p(c));for(var h=0;h<n[c].length;h++)o=n[c][h],r===1?o==="<"?(p(),u=[u],r=3):i+=o:r===4?i==="--"&&o===">"?(r=1,i=""):i=o+i[0]:l?o===l?l="":i+=o:o==='"'||o==="'"?l=o:o===">"?(p(),r=1):r&&(o==="="?(r=5,a=i,i=""):o==="/"&&(r<5||n[c][h+1]===">")?(p(),r===3&&(u=u[0]),r=u,(u=u[0]).push(2,0,r),r=0):o===" "||o==="	"||o===`
`||o==="\r"?(p(),r=2):i+=o),r===3&&i==="!--"&&(r=4,u=u[0])}return p(),u})(e)),t),arguments,[])).length>1?t:t[0]}var s=io.bind(qn);function ce(e){let t=new Set;return{get:()=>e,set(n){if(!Object.is(n,e)){e=n;for(let o of[...t])o(e)}},subscribe(n){return t.add(n),()=>t.delete(n)}}}function Q(e){let[t,n]=_(e.get());return T(()=>(n(e.get()),e.subscribe(n)),[e]),t}function Tt(e,t){let n=t;try{n=localStorage.getItem(e)??t}catch{}let o=ce(n);return o.subscribe(a=>{try{localStorage.setItem(e,a)}catch{}}),o}var St=()=>location.pathname+location.search,Je=ce(St()),lo=0;addEventListener("popstate",()=>Je.set(St()));function be(e,{replace:t=!1}={}){e!==St()&&(t?history.replaceState(history.state,"",e):(lo++,history.pushState({depth:lo},"",e)),Je.set(St()))}function co(){history.state?.depth>0?history.back():be("/")}document.addEventListener("click",e=>{if(e.defaultPrevented||e.button!==0||e.metaKey||e.ctrlKey||e.shiftKey||e.altKey)return;let t=e.target.closest?.("a[href]");!t||t.target||t.hasAttribute("download")||t.origin!==location.origin||t.pathname.startsWith("/v1/")||(e.preventDefault(),t.hash&&t.pathname===location.pathname?document.getElementById(t.hash.slice(1))?.focus():be(t.pathname+t.search))});function U(){let e=Q(Je);return[me(()=>new URLSearchParams(e.split("?")[1]??""),[e]),(o,{replace:a=!0}={})=>{let r=new URLSearchParams(location.search);for(let[l,u]of Object.entries(o)){r.delete(l);for(let p of[u].flat())p&&r.append(l,p)}let i=r.toString();be(location.pathname+(i?`?${i}`:""),{replace:a})}]}function ne(e){T(()=>{document.title=e?`${e} · Gatekeeper`:"Gatekeeper"},[e])}function uo(e,t){for(let[n,o]of t){let a=n.exec(e);if(a)try{return[o,a.slice(1).map(decodeURIComponent)]}catch{return null}}return null}function ye(e,t,n=200){let[o,a]=_(e);return T(()=>a(e),[e]),T(()=>{if(o===e)return;let r=setTimeout(()=>t(o),n);return()=>clearTimeout(r)},[o]),[o,a]}var De=ce({online:!0}),Me=ce(0),ct=null;function Ct(){De.get().online||(clearTimeout(ct),ct=null,De.set({online:!0}),Me.set(Me.get()+1))}function ut(e){let t=De.get();De.set({online:!1,since:t.since??Date.now(),message:e}),ct===null&&(ct=setTimeout(po,1e3))}async function po(){try{let e=await fetch("/v1/definitions?page_size=1",{signal:AbortSignal.timeout(1e4)});if(e.status<500)return Ct();let t=await e.json().catch(()=>null);t?.message&&De.set({...De.get(),message:t.message})}catch{}De.get().online||(ct=setTimeout(po,1e3))}var Le=class extends Error{constructor(t,n){super(n?.message||(t?`The server answered with status ${t}.`:"The server does not answer.")),this.name="APIError",this.status=t,this.code=n?.code??(t?"":"UNAVAILABLE"),this.reason=n?.reason??"",this.metadata=n?.metadata??{},this.fields=n?.fields??[],this.offline=t===0||t===502||t===503||t===504}};function se(e,...t){return String.raw({raw:e},...t.map(n=>encodeURIComponent(n)))}function Rt(e={}){let t=new URLSearchParams;for(let[o,a]of Object.entries(e))for(let r of Array.isArray(a)?a:[a])r!=null&&r!==""&&r!==!1&&r!==0&&t.append(o,r);let n=t.toString();return n?`?${n}`:""}var an=0n,mo=0,et=()=>Date.now()+mo;function Dt(){let e=crypto.getRandomValues(new Uint8Array(16));return{request_id:`dashboard-${Array.from(e,n=>n.toString(16).padStart(2,"0")).join("")}`,request_revision:an.toString()}}function Pr(e){try{let t=BigInt(e?.revision??0);t>an&&(an=t)}catch{}}async function Ge(e,t,{query:n,body:o,signal:a}={}){let r={method:e,signal:a,headers:{Accept:"application/json"}};o!==void 0&&(r.headers["Content-Type"]="application/json",r.body=JSON.stringify(o));let i,l=null;try{i=await fetch(t+Rt(n),r),l=await i.json().catch(()=>null)}catch(u){throw a?.aborted?u:(ut("The server does not answer."),new Le(0))}return Ot(i,l)}function Ot(e,t){let n=Date.parse(e.headers.get("Date")??"");if(n){let a=n-Date.now();mo=Math.abs(a)>2e3?a:0}if(e.ok)return Ct(),Pr(t),t??{};let o=new Le(e.status,t);throw o.offline?ut(o.message):Ct(),e.status===401&&Fr(),o}var E=(e,t,n)=>Ge("GET",e,{query:t,signal:n}),C=(e,t,n)=>Ge("POST",e,{body:t,signal:n});function Fr(){if(location.pathname==="/login")return;let e=location.pathname+location.search;history.replaceState(null,"",`/login${Rt({next:e==="/"?"":e})}`),dispatchEvent(new PopStateEvent("popstate"))}async function we(e,t,n,o,a=5e3){let r=[],i="";do{let l=await E(e,{page_size:1e3,...t,page_token:i},o);r.push(...l[n]??[]),i=l.next_page_token??""}while(i&&r.length<a);return{items:r,more:i!==""}}var Ee=ce(null),It=Tt("author",""),ue=()=>Ee.get()?.authenticated?{}:{author:It.get()||"dashboard"};async function ln(){let e=await E("/session");Ee.set({authenticates:e.authenticated??!1,...e}),At.clear()}async function fo(e){await Ge("POST","/session",{body:{token:e}}),await ln()}async function ho(){await Ge("DELETE","/session"),Ee.set(null)}var At=new Map;function jr(e){let t=JSON.stringify(e),n=At.get(t);return(!n||n.at<Date.now()-6e4)&&(n={at:Date.now(),answer:C("/v1/can-i",e)},n.answer.catch(()=>At.delete(t)),At.set(t,n)),n.answer}var qr={ROLE_OPERATOR:"It needs the role operator there.",ROLE_EDITOR:"It needs the role editor there.",ROLE_ADMIN:"It needs the role admin.",ROLE_ACQUIRER:"It needs the role acquirer there."};function $o(e,t="",n="",o=""){let a=Q(Ee),[r,i]=_("");return T(()=>{if(!e||!a?.authenticated)return i("");let l=!1;return jr({role:e,semaphore:t,group:n,acquirer:o}).then(u=>l||i(u.allowed?"":`You may not: ${u.reason}. ${qr[e]} An administrator can grant it.`),()=>l||i("")),()=>l=!0},[e,t,n,o,a]),r}var b=e=>Number(e??0).toLocaleString("en"),R=(e,t,n)=>`${b(e)} ${Number(e)===1?t:n}`,M=e=>e?Math.round(parseFloat(e)*1e3):0;function _e(e){if(!e)return"0s";if(e<0)return`-${_e(-e)}`;let t="";for(let[n,o]of[["h",36e5],["m",6e4]]){let a=Math.floor(e/o);a&&(t+=a+n),e-=a*o}return e>=1e3||e&&t?t+=`${+(e/1e3).toFixed(3)}s`:e&&(t+=`${+e.toFixed(3)}ms`),t}function X(e){return e<0?"0s":e<1e4?_e(Math.round(e/100)*100):e<36e5?_e(Math.round(e/1e3)*1e3):e<48*36e5?_e(Math.round(e/6e4)*6e4):`${Math.floor(e/864e5)}d`}var tt=e=>X(Math.max(0,Math.round(e/1e3))*1e3),Ur={ms:1,s:1e3,m:6e4,h:36e5,d:864e5};function xe(e){if(e=e.trim(),e==="")return;if(e==="0")return"0s";let t=0;if(e.replace(/(\d+(?:\.\d+)?)(ms|s|m|h|d)/g,(o,a,r)=>(t+=parseFloat(a)*Ur[r],""))!=="")throw new Error(`“${e}” is not a duration. Write it as 90s, 5m, 1h30m or 2d.`);return`${+(t/1e3).toFixed(3)}s`}var Qe=e=>e==null?"":_e(M(e));var pt=e=>String(e).padStart(2,"0");function L(e){if(!e)return"";let t=new Date(e);return`${`${t.getFullYear()}-${pt(t.getMonth()+1)}-${pt(t.getDate())}`} ${Nt(t)}`}var Nt=e=>`${pt(e.getHours())}:${pt(e.getMinutes())}:${pt(e.getSeconds())}`;function Mt(e){if(!e)return"";let t=new Date(e);return t.toDateString()===new Date(et()).toDateString()?Nt(t):L(e)}function ge(e){if(e=Number(e??0),e<1024)return`${e} B`;let t=-1;do e/=1024,t++;while(e>=1024&&t<3);return`${e<10?e.toFixed(1):Math.round(e)} ${["KiB","MiB","GiB","TiB"][t]}`}function Pe(e,t=3){let n=e.length-t;return e.slice(0,t).join(", ")+(n>0?` and ${b(n)} more`:"")}function cn(e){if(!e)return"";let t=Uint8Array.from(atob(e),n=>n.charCodeAt(0));try{return new TextDecoder("utf-8",{fatal:!0}).decode(t)}catch{return Array.from(t,n=>n.toString(16).padStart(2,"0")).join(" ")}}var Hr=4e4,Wr=5e3;function go(e,t,n){let o=!1,a=0,r=!1,i="",l=null,u=null,p=()=>{clearTimeout(u),l?.abort(),l=null},c=()=>{o=!0,p(),document.removeEventListener("visibilitychange",h)},h=()=>{document.hidden?p():l||m()},d=f=>{if(f.id&&(i=f.id),!f.data)return;let g=JSON.parse(f.data);if(f.type==="end")c(),n.end?.();else if(f.type==="error"){let $=new Le(g.status??500,g);_o(g.code)||(c(),n.error?.($))}else n[f.type]?.(g,f.id)};async function m(){clearTimeout(u);let f=l=new AbortController,g=null,$=()=>{clearTimeout(g),g=setTimeout(()=>f.abort(),Hr)};try{$();let S={Accept:"text/event-stream"};i&&(S["Last-Event-ID"]=i);let y=await fetch(e+Rt(t),{headers:S,signal:f.signal});if(!y.ok||!y.headers.get("Content-Type")?.startsWith("text/event-stream"))throw Ot(y,await y.json().catch(()=>null)),new Le(500,{message:"The answer is not a stream of events."});a=0,Ot(y,{}),n.open?.(r),r=!0,await Br(y.body,A=>!o&&d(A),$)}catch(S){S instanceof Le?!S.offline&&!_o(S.code)&&S.status!==401?(c(),n.error?.(S)):S.status===401&&c():f.signal.aborted||ut("The connection to the server broke.")}finally{clearTimeout(g)}o||l!==f||(l=null,!document.hidden&&(a++,u=setTimeout(m,Math.min(Wr,500*a)*(.75+Math.random()/2))))}return document.addEventListener("visibilitychange",h),document.hidden||m(),c}var _o=e=>["UNAVAILABLE","ABORTED","CANCELLED","DEADLINE_EXCEEDED","RESOURCE_EXHAUSTED","UNKNOWN"].includes(e);async function Br(e,t,n){let o=e.pipeThrough(new TextDecoderStream).getReader(),a="",r={type:"message",id:"",data:""};for(;;){let{value:i,done:l}=await o.read();if(l)return;n();let u=(a+i).split(`
`);a=u.pop();for(let p of u){if(p.endsWith("\r")&&(p=p.slice(0,-1)),p===""){t(r),r={type:"message",id:"",data:""};continue}let c=p.indexOf(":");if(c<=0)continue;let h=p.slice(c+1).replace(/^ /,"");switch(p.slice(0,c)){case"event":r.type=h;break;case"id":r.id=h;break;case"data":r.data+=h}}}}function x(e,t,{every:n=0,keep:o=!1}={}){let[a,r]=_({}),[i,l]=_(0),u=Q(Me),p=JSON.stringify(t),c=Y(e);c.current=e,T(()=>{if(e===null)return;let m=new AbortController;return c.current(m.signal).then(f=>m.signal.aborted||r({data:f,key:p}),f=>m.signal.aborted||r(g=>({...g,error:f,failed:p}))),()=>m.abort()},[p,i,u,e===null]),T(()=>{if(!n)return;let m=setInterval(()=>document.hidden||l(f=>f+1),n);return()=>clearInterval(m)},[n]);let h=a.key===p,d=a.failed===p?a.error:void 0;return{data:h||o?a.data:void 0,error:d,loading:!h&&!d,refresh:()=>l(m=>m+1),set:m=>r(f=>({...f,data:m(f.data)}))}}function Te(e,t,n){let o=Y(n);o.current=n;let a=JSON.stringify([e,t]);T(()=>{if(!e)return;let r=i=>(...l)=>o.current[i]?.(...l);return go(e,t,{message:r("message"),live:r("live"),missed:r("missed"),open:r("open"),error:r("error"),end:r("end")})},[a])}var un=ce(0),vo=null,bo=0;function Oe(){return T(()=>(bo++===0&&(vo=setInterval(()=>document.hidden||un.set(un.get()+1),1e3)),()=>{--bo===0&&clearInterval(vo)}),[]),Q(un)}function Ae(e,t){let n=Y(e);n.current=e;let o=Y(null);return T(()=>()=>clearTimeout(o.current),[]),()=>{o.current===null&&(o.current=setTimeout(()=>{o.current=null,n.current()},t))}}function Lt(e){let[t,n]=_(()=>matchMedia(e).matches);return T(()=>{let o=matchMedia(e),a=()=>n(o.matches);return o.addEventListener("change",a),()=>o.removeEventListener("change",a)},[e]),t}function ve({what:e="Reading"}){return s`<p class="loading" role="status"><span class="dots" aria-hidden="true"></span>${e} …</p>`}function D({title:e,children:t}){return s`<div class="empty"><p class="empty-title">${e}</p>${t&&s`<p>${t}</p>`}</div>`}var yo={PERMISSION_DENIED:"An administrator can grant you the role.",UNAUTHENTICATED:"Log in again."};function B({error:e,retry:t}){if(!e)return null;let n=e.fields??[];return s`<div class="failure" role="alert">
    <p class="failure-text">${wo(e.message)}</p>
    ${yo[e.code]&&s`<p>${yo[e.code]}</p>`}
    ${n.length>0&&s`<ul>${n.map(o=>s`<li><code>${o.field}</code>: ${o.rule}</li>`)}</ul>`}
    ${e.offline&&s`<p>Whether a change was made is then not known. The activity page shows it. The same button again does nothing twice.</p>`}
    <p class="row">
      ${t&&s`<button type="button" onClick=${t}>Try again</button>`}
      ${(e.reason||e.code)&&s`<span class="faint">${e.reason||e.code}</span>`}
    </p>
  </div>`}var wo=(e="")=>{let t=e.charAt(0).toUpperCase()+e.slice(1);return/[.!?…]$/.test(t)?t:`${t}.`};function K({of:e,what:t,children:n}){return e.data===void 0?e.error&&!e.error.offline?s`<${B} error=${e.error} retry=${e.refresh} />`:s`<${ve} what=${t} />`:s`${e.error&&!e.error.offline&&s`<${B} error=${e.error} retry=${e.refresh} />`}${n(e.data)}`}function ko(){let e=Q(De);return Oe(),e.online?s`<div role="status" class="sr-only"></div>`:s`<div class="offline" role="status">
    <strong>${wo(e.message)}</strong>
    <span> What is shown is as of ${Nt(new Date(e.since))}. This page asks again every second, and recovers without you.</span>
  </div>`}var dt=ce([]),Kr=0;function fe(e,{tone:t="run",action:n}={}){dt.set([...dt.get().slice(-2),{id:++Kr,text:e,tone:t,action:n}])}var pn=e=>dt.set(dt.get().filter(t=>t.id!==e));function zr({id:e,text:t,tone:n,action:o}){return T(()=>{let a=setTimeout(()=>pn(e),o?3e4:12e3);return()=>clearTimeout(a)},[e]),s`<div class="notice tone-${n}">
    <span>${t}</span>
    ${o&&s`<button type="button" onClick=${()=>(pn(e),o.run())}>${o.text}</button>`}
    <button type="button" class="plain" aria-label="Dismiss" onClick=${()=>pn(e)}>×</button>
  </div>`}function Eo(){let e=Q(dt);return s`<div class="notices" role="status">${e.map(t=>s`<${zr} key=${t.id} ...${t} />`)}</div>`}function z({role:e,semaphore:t,group:n,acquirer:o,why:a,kind:r="",children:i,onClick:l,type:u="button",...p}){let c=$o(e,t,n,o),h=lt(),d=c||a;return s`<span class="action">
    <button
      type=${d?"button":u}
      class=${r}
      aria-disabled=${d?"true":void 0}
      aria-describedby=${d?h:void 0}
      onClick=${d?void 0:l}
      ...${p}
    >${i}</button>
    ${d&&s`<span class="why" role="tooltip" id=${h}>${d}</span>`}
  </span>`}function he({title:e,onClose:t,wide:n,children:o}){let a=Y(null),r=lt();return it(()=>{let i=document.activeElement,l=a.current;return l.showModal(),()=>{l.close(),i?.isConnected&&i.focus()}},[]),s`<dialog
    ref=${a}
    class=${n?"wide":""}
    aria-labelledby=${r}
    onCancel=${i=>(i.preventDefault(),t())}
    onMouseDown=${i=>i.target===a.current&&t()}
  >
    <div class="dialog-body">
      <header class="dialog-head">
        <h2 id=${r}>${e}</h2>
        <button type="button" class="plain" aria-label="Close" onClick=${t}>×</button>
      </header>
      ${o}
    </div>
  </dialog>`}function xo({label:e,help:t,error:n,children:o,class:a=""}){let r=lt(),i=[t&&`${r}-help`,n&&`${r}-error`].filter(Boolean).join(" ")||void 0;return s`<div class="field ${a}">
    <label for=${r}>${e}</label>
    ${o({id:r,"aria-describedby":i,"aria-invalid":n?"true":void 0})}
    ${t&&s`<p class="help" id="${r}-help">${t}</p>`}
    ${n&&s`<p class="error" id="${r}-error" role="alert">${n}</p>`}
  </div>`}function H({label:e,help:t,error:n,value:o,onInput:a,area:r,class:i,...l}){return s`<${xo} label=${e} help=${t} error=${n} class=${i}>
    ${u=>r?s`<textarea rows=${r} value=${o} onInput=${p=>a(p.target.value)} ...${u} ...${l}></textarea>`:s`<input value=${o} onInput=${p=>a(p.target.value)} autocomplete="off" spellcheck=${!1} ...${u} ...${l} />`}
  <//>`}function ke({label:e,help:t,value:n,options:o,onChange:a,class:r}){return s`<${xo} label=${e} help=${t} class=${r}>
    ${i=>s`<select value=${n} onChange=${l=>a(l.target.value)} ...${i}>
      ${o.map(([l,u])=>s`<option value=${l} selected=${l===n}>${u}</option>`)}
    </select>`}
  <//>`}function ie({label:e,help:t,checked:n,onChange:o}){let a=lt();return s`<div class="check">
    <input type="checkbox" id=${a} checked=${n} aria-describedby=${t?`${a}-help`:void 0} onChange=${r=>o(r.target.checked)} />
    <label for=${a}>${e}</label>
    ${t&&s`<span class="help" id="${a}-help">${t}</span>`}
  </div>`}function nt({of:e,query:t="tab",label:n}){let[o]=U(),a=o.get(t)??e[0][0],r=i=>{let l=new URLSearchParams(o);i===e[0][0]?l.delete(t):l.set(t,i);let u=l.toString();return location.pathname+(u?`?${u}`:"")};return s`<nav class="tabs" aria-label=${n}>
    ${e.map(([i,l])=>s`<a href=${r(i)} aria-current=${i===a?"page":void 0}>${l}</a>`)}
  </nav>`}function To(e){let t=Y(e);t.current=e,T(()=>{let n=o=>{if(o.defaultPrevented||o.ctrlKey||o.metaKey||o.altKey||document.querySelector("dialog[open]"))return;let a=/^(INPUT|TEXTAREA|SELECT)$/.test(o.target.tagName);a&&o.key!=="Escape"||t.current[o.key]?.(o,a)};return addEventListener("keydown",n),()=>removeEventListener("keydown",n)},[])}function I(e,t){return!e||e===`${t}UNSPECIFIED`?"":e.slice(t.length).toLowerCase().replaceAll("_"," ")}var Pt=[{value:"DEFINITION_STATE_DISABLED",word:"disabled",tone:"deny",help:"A pattern cannot be used: nobody is let in."},{value:"DEFINITION_STATE_DENIED",word:"denied",tone:"deny",help:"Callers are denied, and nobody gets a permit, until somebody acts."},{value:"DEFINITION_STATE_HELD",word:"held for an operator",tone:"stop",help:"A slot is held until an operator clears it."},{value:"DEFINITION_STATE_MISSED",word:"missed",tone:"stop",help:"Expected work is missed: it is silent."},{value:"DEFINITION_STATE_STOPPING",word:"stopping",tone:"stop",help:"A holder must stop."},{value:"DEFINITION_STATE_PAUSED",word:"paused",tone:"pause",help:"Nobody is let in until the pause ends."},{value:"DEFINITION_STATE_WAITING",word:"waiting",tone:"wait",help:"Somebody waits in the queue."},{value:"DEFINITION_STATE_RUNNING",word:"running",tone:"run",help:"Somebody holds a permit."},{value:"DEFINITION_STATE_IDLE",word:"idle",tone:"idle",help:"Nothing takes a slot."}],Vr={value:"",word:"unknown",tone:"idle",help:""},So=e=>Pt.find(t=>t.value===e)??Vr,mt=e=>Pt.filter(t=>e.states?.includes(t.value));function Co(e){let t=mt(e)[0];return e.pause&&t?.word==="paused"?e.pause.until?`paused until ${L(e.pause.until)}`:"paused":t?.word??"unknown"}function Ft(e){let t=[];e.disabled&&t.push(`Disabled: ${e.disabled}`),e.pause&&t.push(Jr(e.pause)),e.missed&&t.push(Gr(e.missed));for(let n of e.ends??[])t.push(`${n.fields.join(", ")}: as it is until ${L(n.until)}, then its value of before.`);return[...t,...e.warnings??[]]}function Jr(e){let t=e.until?`Paused until ${L(e.until)}`:"Paused until it is resumed";return e.reason&&(t+=`: ${e.reason}`),e.stop&&(t+=e.drain?`. Holders must stop within ${X(M(e.drain))}`:". Holders must stop"),`${t}. By ${e.author||"somebody"}.`}function Gr(e){let t=I(e.kind,"MISSED_KIND_");return e.text||`Missed: ${t}${e.reason?` (${I(e.reason,"REASON_")})`:""}`}var F=e=>`${e?.acquirer??""} in ${e?.group||"default"}`;function Ro(e){let t=I(e.state,"PERMIT_STATE_")||"live";t==="held"&&(t="held for an operator"),e.drain_left&&(t+=`, draining for ${X(M(e.drain_left))}`);let n=I(e.stop,"STOP_CAUSE_");return n&&(t+=`, stopping: ${n}${e.stop_reason?` (${e.stop_reason})`:""}`),t}var Do=e=>e.state==="PERMIT_STATE_HELD"||e.stop?"stop":e.state==="PERMIT_STATE_COOLING"?"idle":"run";function je(e){return e?e.due?`${e.name}@${e.due.replace(/\.000Z$/,"Z")}`:e.name:""}var pe=[{name:"description",kind:"text",label:"Description",help:"Free text for people."},{name:"labels",kind:"labels",label:"Labels",help:"One key=value per line. Commands and filters select by them."},{name:"group_pattern",kind:"pattern",label:"Group pattern",help:"A regular expression (RE2) that the whole group must match."},{name:"acquirer_pattern",kind:"pattern",label:"Acquirer pattern",help:"The same for the acquirer, normally a host."},{name:"permits",kind:"number",label:"Permits",help:"How much weight may be held at once. 0 lets nobody in."},{name:"duration",kind:"duration",label:"Duration",help:"How long a permit lives without a refresh. It bounds how long a dead holder keeps its slot."},{name:"max_hold",kind:"duration",label:"Max hold",help:"A job that holds longer must stop. Empty: no limit."},{name:"min_hold",kind:"duration",label:"Min hold",help:"The slot stays taken at least this long after a grant."},{name:"loss_delay",kind:"duration",label:"Loss delay",help:"After a lost holder the slot stays taken this much longer."},{name:"on_expiry",kind:"choice",prefix:"ON_EXPIRY_",values:["FREE","HOLD"],label:"On expiry",help:"What becomes of the slot of a permit that expired. hold: until an operator clears it."},{name:"takeover",kind:"flag",label:"Takeover",help:"Callers may take over from a holder that they judge dead."},{name:"expect_every",kind:"duration",label:"Expect every",help:"How often this work is expected to ask. Empty: nothing is expected."},{name:"firing_on_loss",kind:"choice",prefix:"FIRING_ON_LOSS_",values:["SPENT","FREE"],label:"Firing on loss",help:"What becomes of a firing whose permit was lost. free: it may be claimed again."},{name:"firing_retention",kind:"duration",label:"Firing retention",help:"How long a firing is remembered after its due time."},{name:"firing_limit",kind:"number",label:"Firing limit",help:"How many firings are remembered at most."},{name:"firing_max_ahead",kind:"duration",label:"Firing max ahead",help:"How far ahead of the leader’s clock a firing may be due. 0: any."},{name:"max_attempts",kind:"number",label:"Max attempts",help:"How many holders may attempt a firing. 0: any number."},{name:"misfire",kind:"choice",prefix:"MISFIRE_",values:["SKIP","ONCE","EACH"],label:"Misfire",help:"What becomes of firings that nobody claimed when they were due."},{name:"misfire_window",kind:"duration",label:"Misfire window",help:"How long ago such a firing may have been due."}];function Fe(e,t){let n=t?.[e.name];switch(e.kind){case"labels":return Object.keys(n??{}).sort().map(o=>n[o]===""?o:`${o}=${n[o]}`).join(", ");case"duration":return Qe(n);case"choice":return I(n,e.prefix)||e.values[0].toLowerCase();case"flag":return n?"yes":"no";case"number":return String(n??0)}return n??""}function dn(e,t){return pe.map(n=>({field:n,before:Fe(n,e),after:Fe(n,t)})).filter(n=>n.before!==n.after)}var mn=(e=[],t=e.length,n=2)=>{let o=e.slice(0,n).map(r=>`${r.acquirer} in ${r.group}`),a=t-o.length;return o.join(", ")+(a>0?` and ${b(a)} more`:"")};function Oo(e=[]){let t=e.flatMap(r=>r.stopped??[]);if(t.length===0)return"No holder must stop.";let n=t.filter(r=>r.drain_left).length,o=[];t.length>n&&o.push(`${R(t.length-n,"holder","holders")} must stop`),n&&o.push(`the ${n===1?"drain of 1 holder is":`drains of ${n} holders are`} cut short`);let a=`${o.join(", ")}; every slot is free within ${X(Math.max(...t.map(r=>M(r.free_within))))}.`;return a[0].toUpperCase()+a.slice(1)}function Ao(e=[],t=[]){let n=new Map;for(let o of e)for(let a of o.warnings??[])n.set(a,[...n.get(a)??[],o.semaphore]);return[...t,...[...n].map(([o,a])=>`${Pe(a)}: ${o}`)]}var Qr=e=>`${e.length===1?"change":"changes"} ${Pe(e,5)}`;function fn(e){let t=[];return e.group_pattern&&t.push(`group ${e.group_pattern}`),e.acquirer_pattern&&t.push(`acquirer ${e.acquirer_pattern}`),e.until&&t.push(`until ${L(e.until)}`),t.join(", ")}function Io(e){let t=[],n=I(e.kind,"EVENT_KIND_");e.until&&n!=="resumed"&&t.push(`until ${L(e.until)}`);let o=e.pause;if(o&&n!=="resumed"&&((n==="created"||n==="deleted")&&t.push("while paused"),o.until&&t.push(`until ${L(o.until)}`),o.stop&&t.push(o.drain?`holders must stop within ${X(M(o.drain))}`:"holders must stop")),e.pause_before&&t.push(`instead of the pause of change ${e.pause_before.change}`),e.cordon&&t.push(`“${e.cordon.id}”, ${fn(e.cordon)}`),e.cordon_before&&t.push(`instead of that of change ${e.cordon_before.change}`),e.firings?.firings?.length){let r=e.firings.firings.map(l=>je(l.firing)),i=n==="firings remembered"?"remembered again":"forgotten";t.push(`${R(r.length,"firing","firings")} ${i} (${Pe(r)})`)}(e.binding_before||e.binding_after)&&t.push(`binding ${(e.binding_after??e.binding_before).name}`),e.undoes&&e.undoes!=="0"&&t.push(`undoes ${Qr([e.undoes,...e.also_undoes??[]])}`),e.permit&&t.push(`${F(e.permit.identity)}, token ${e.permit.token}`);let a=I(e.missed,"MISSED_KIND_");return a&&t.push(a),e.drain&&t.push(`drain ${X(M(e.drain))}`),[...new Set(t)].join("; ")}var Yr={created:"run",replaced:"accent",deleted:"deny",paused:"pause",resumed:"run",cordoned:"deny",uncordoned:"run",granted:"run",released:"idle",expired:"stop",held:"stop",cleared:"run",stopping:"stop",missed:"stop",heard:"run","freed unsafely":"deny"},No=e=>Yr[I(e,"EVENT_KIND_")]??"idle",Mo=e=>["CREATED","REPLACED","DELETED","PAUSED","RESUMED","CORDONED","UNCORDONED","FIRINGS_FORGOTTEN","FIRINGS_REMEMBERED"].includes(e.kind?.slice(11));function hn(e){let t=I(e.role,"ROLE_");return e.semaphores?.length&&(t+=` on ${e.semaphores.join(", ")}`),e.labels&&(t+=` where ${e.labels}`),e.group&&(t+=` in group ${e.group}`),e.acquirer&&(t+=` as acquirer ${e.acquirer}`),t}function G({caption:e,columns:t,rows:n,rowKey:o,empty:a,note:r}){return n?.length?s`<div class="table-wrap">
    <table>
      <caption class="sr-only">${e}</caption>
      <thead><tr>${t.map(([i,,l])=>s`<th scope="col" class=${l}>${i}</th>`)}</tr></thead>
      <tbody>
        ${n.map((i,l)=>s`<tr key=${o?o(i):l}>
          ${t.map(([u,p,c],h)=>h===0?s`<th scope="row" class=${c} data-label=${u}>${p(i)}</th>`:s`<td class=${c} data-label=${u}>${p(i)}</td>`)}
        </tr>`)}
      </tbody>
    </table>
    ${r&&s`<p class="faint">${r}</p>`}
  </div>`:a??s`<${D} title="Nothing here." />`}function Se({of:e}){return s`<dl class="facts">
    ${e.filter(([,t])=>t!=null&&t!=="").map(([t,n])=>s`<div><dt>${t}</dt><dd>${n}</dd></div>`)}
  </dl>`}function $e({share:e,tone:t="accent",label:n}){let o=Math.max(0,Math.min(1,e||0));return s`<span class="bar tone-${t}" role="img" aria-label=${n}>
    <span class="bar-fill" style=${{transform:`scaleX(${o.toFixed(4)})`}}></span>
  </span>`}function jt({at:e,of:t,what:n="expires unless it is refreshed"}){if(Oe(),!e)return s`<span class="faint">–</span>`;let o=Math.max(0,e-Date.now()),a=t&&o/t<.34;return s`<span class="deadline" title=${n}>
    ${t>0&&s`<${$e} share=${o/t} tone=${a?"wait":"run"} label="${tt(o)} left" />`}
    <span class="num">${tt(o)}</span>
  </span>`}function le({at:e}){return Oe(),e?s`<time class="num" datetime=${e} title=${new Date(e).toLocaleString()}>${tt(et()-Date.parse(e))}</time>`:"–"}function Lo({parts:e,total:t,label:n}){let o=0;return s`<svg class="segments" viewBox="0 0 1000 10" preserveAspectRatio="none" role="img" aria-label=${n}>
    <rect class="track" x="0" y="0" width="1000" height="10" />
    ${e.filter(([a])=>a>0).map(([a,r])=>{let i=t?1e3*a/t:0,l=s`<rect class="fill-${r}" x=${o} y="0" width=${i} height="10" />`;return o+=i,l})}
  </svg>`}var qe=50;function $n({before:e,after:t}){if(!e&&!t)return null;if(!e)return s`<span>created</span>`;if(!t)return s`<span>deleted</span>`;let n=dn(e,t);return n.length===0?s`<span class="faint">–</span>`:s`<ul class="changes">
    ${n.map(o=>s`<li>
        <span class="change-name">${o.field.name}</span>
        <del>${o.before||"(none)"}</del><span class="sr-only"> becomes </span><ins>${o.after||"(none)"}</ins>
      </li>`)}
  </ul>`}function Xr({effects:e}){let t=e.flatMap(n=>n.stopped??[]);return t.length===0?null:s`<section>
    <h3>Must stop</h3>
    <${G}
      caption="Holders that must stop"
      rows=${t.slice(0,qe)}
      rowKey=${n=>n.permit.token}
      columns=${[["Semaphore",n=>n.permit.semaphore,"name"],["Holder",n=>F(n.permit.identity),"name"],["Token",n=>n.permit.token,"num"],["Since",n=>s`<${le} at=${n.permit.granted_at} />`,"num"],["Free within",n=>X(M(n.free_within))+(n.drain_left?` (its drain had ${X(M(n.drain_left))} left)`:""),"num"]]}
      note=${t.length>qe&&`and ${b(t.length-qe)} more`}
    />
  </section>`}function Po({of:e}){let t=e.effects??[],n=t.filter(i=>i.total_admitted||i.total_shut_out||!i.before!=!i.after||dn(i.before,i.after).length),o=Ao(t,e.warnings),a=t.flatMap(i=>i.held??[]),r=t.filter(i=>Number(i.waiting_tasks));return s`<div class="effects">
    <p class="lead">${Oo(t)}</p>
    ${e.confirm?.length>0&&s`<ul class="confirm">${e.confirm.map(i=>s`<li>${i.text}</li>`)}</ul>`}
    ${o.length>0&&s`<ul class="warnings">${o.slice(0,20).map(i=>s`<li>${i}</li>`)}</ul>`}
    ${n.length>0&&s`<section>
      <h3>${R(n.length,"semaphore changes","semaphores change")}</h3>
      <${G}
        caption="Semaphores that change"
        rows=${n.slice(0,qe)}
        rowKey=${i=>i.semaphore}
        columns=${[["Semaphore",i=>i.semaphore,"name"],["Changes",i=>s`<${$n} before=${i.before} after=${i.after} />`],["Lets in",i=>mn(i.admitted,i.total_admitted??0)||"–"],["Shuts out",i=>mn(i.shut_out,i.total_shut_out??0)||"–"],["Stops",i=>b(i.stopped?.length),"num"],["Continue",i=>b(i.unaffected),"num"]]}
        note=${n.length>qe&&`and ${b(n.length-qe)} more`}
      />
    </section>`}
    <${Xr} effects=${t} />
    ${a.length>0&&s`<section><h3>Held for an operator</h3>
      <ul>${a.slice(0,qe).map(i=>s`<li>${i.semaphore}: the permit of ${F(i.identity)} (token ${i.token}) expired. Its slot stays taken until it is cleared.</li>`)}</ul>
    </section>`}
    ${r.length>0&&s`<ul>${r.slice(0,qe).map(i=>s`<li>${i.semaphore}: ${R(i.waiting_tasks,"task waits","tasks wait")} for a worker${i.tasks_run?`; after this change, ${i.tasks_run}`:""}.</li>`)}</ul>`}
  </div>`}function de(e){let{title:t,verb:n,kind:o,preview:a,run:r,done:i,onClose:l,onDone:u,onError:p,role:c,semaphore:h,nothing:d,deps:m,extra:f,children:g}=e,[$,S]=_(0),y=x(a,[t,$,m],{keep:!0}),A=y.loading||y.error,[N,k]=_(""),[V,ae]=_(!1),[w,O]=_(null),P=Y(null),W=y.data&&d?.(y.data);T(()=>{y.error&&p?.(y.error)&&l()},[y.error]),T(()=>{P.current=null},[JSON.stringify(m)]);let j=()=>{P.current=null,O(null),S($+1)};async function v(re){if(re.preventDefault(),!(V||A||W)){ae(!0),O(null),P.current??=Dt();try{let q=await r({reason:N,...ue(),...P.current},y.data),oe=q.revision??q.change,zt=oe&&oe!=="0"?{text:"Undo",run:()=>Ye(oe)}:void 0;fe(i(q),{action:zt}),u?.(q,y.data),l()}catch(q){q.code!=="UNAVAILABLE"&&(P.current=null),O(q),ae(!1),p?.(q)&&l()}}}return s`<${he} title=${t} onClose=${l} wide>
    <form onSubmit=${v}>
      ${g}
      <${K} of=${y} what="Asking what this would do">
        ${re=>s`${f?.(re)}<${Po} of=${re} />${re.notes?.length>0&&s`<ul>${re.notes.map(q=>s`<li>${q}</li>`)}</ul>`}
        ${W&&s`<p class="lead">${W}</p>`}`}
      <//>
      <${H} label="Reason" help="For the journal: why you do this." value=${N} onInput=${k} maxlength="1024" />
      ${w&&s`<${B} error=${w} retry=${/CHANGED_SINCE|STALE|CONFLICT/.test(w.reason)?j:void 0} />`}
      <p class="row end">
        <button type="button" onClick=${l}>Cancel</button>
        <${z} role=${c} semaphore=${h} type="submit" kind=${o??"primary"} why=${A?"There is no preview yet.":W}>
          ${V?"Working …":typeof n=="function"?n(y.data??{}):n}
        <//>
      </p>
    </form>
  <//>`}var _n=ce(null);function Ye(e,t){_n.set({change:String(e),onDone:t})}function Fo(){let e=Q(_n);return e?s`<${de}
    key=${e.change}
    title=${`Undo change ${e.change}`}
    verb="Undo it"
    preview=${()=>C("/v1/undo",{change:e.change,dry_run:!0,...ue()})}
    nothing=${t=>t.undone_by&&t.undone_by!=="0"?`It was undone already, by change ${t.undone_by}.`:t.nothing?"Nothing is left to undo.":""}
    run=${(t,n)=>C("/v1/undo",{change:e.change,plan:n.plan,...t})}
    done=${()=>`Change ${e.change} is undone.`}
    onDone=${e.onDone}
    onClose=${()=>_n.set(null)}
  />`:null}var Zr=[["/","Overview"],["/move","Move and pause"],["/activity","Activity"],["/jobs","Jobs"],["/cluster","Cluster"],["/access","Access"]],gn=Tt("theme","auto");gn.subscribe(e=>{e==="auto"?delete document.documentElement.dataset.theme:document.documentElement.dataset.theme=e});function es(){let e=Q(gn),t={auto:"light",light:"dark",dark:"auto"}[e];return s`<button type="button" class="plain" onClick=${()=>gn.set(t)} title="Theme: ${e}. Click for ${t}.">
    <svg class="glyph" viewBox="0 0 16 16" aria-hidden="true">
      <circle cx="8" cy="8" r="6" /><path class="solid" d=${e==="auto"?"M8 2a6 6 0 0 1 0 12z":e==="dark"?"M8 2a6 6 0 0 1 0 12 6 6 0 0 1 0-12z":"M8 8z"} />
    </svg>
    <span class="sr-only">Theme: ${e}. Change to ${t}</span>
  </button>`}var ts=[["/","Search"],["↑ ↓","Move in a list; Home, End, Page Up and Page Down too"],["Enter","Open"],["Esc","Leave a field, close a dialog, or go back"],["g then o, m, a, j, c","Overview, Move and pause, Activity, Jobs, Cluster"],["?","These keys"]];function ns({onClose:e}){return s`<${he} title="Keys" onClose=${e}>
    <dl class="keys">${ts.map(([t,n])=>s`<div><dt><kbd>${t}</kbd></dt><dd>${n}</dd></div>`)}</dl>
  <//>`}function os(){let e=Q(Ee),t=Q(It),[n,o]=_(!1);if(!e)return null;let a=e.authenticated?e.principal||e.credential:t||"dashboard";return s`<button type="button" class="plain who" onClick=${()=>o(!0)}><span class="sr-only">You are </span>${a}</button>
    ${n&&s`<${he} title="You" onClose=${()=>o(!1)}>
      ${e.authenticated?s`<p>The servers see you as <strong>${e.principal}</strong>, by ${e.credential}. <a href="/access">What you may do</a></p>
            <p class="row end"><button type="button" onClick=${()=>ho().finally(()=>location.assign("/login"))}>Log out</button></p>`:s`<p>These servers do not authenticate callers: everybody may do everything.</p>
            <${H} label="Your name" help="The journal shows it as the author of your changes. Nobody checks it." value=${t} onInput=${r=>It.set(r)} maxlength="256" />
            <p class="row end"><button type="button" class="primary" onClick=${()=>o(!1)}>Done</button></p>`}
    <//>`}`}function rs(){let t=x(n=>E("/v1/status",{},n),["status"],{every:1e4,keep:!0}).data;return t?s`<a class="leader" href="/cluster">
    ${t.leader_id?s`<span class="lamp tone-run" aria-hidden="true"></span>${t.leader_id} leads`:s`<span class="lamp tone-deny" aria-hidden="true"></span>no leader`}
  </a>`:s`<a class="leader" href="/cluster"><span class="sr-only">Cluster: </span>…</a>`}var ss={o:"/",m:"/move",a:"/activity",j:"/jobs",c:"/cluster"};function vn({children:e,bare:t}){let n=Q(Je).split("?")[0],[o,a]=_(!1),r=Y(null),i=Y(!0),l=Y(0);return T(()=>{if(i.current){i.current=!1;return}scrollTo(0,0),r.current?.querySelector("h1")?.focus()},[n]),To({"?":()=>a(!0),"/":u=>{let p=document.querySelector("[data-search]");p&&(u.preventDefault(),p.focus(),p.select())},Escape:(u,p)=>{p?u.target.blur():n!=="/"&&co()},g:()=>l.current=Date.now(),...Object.fromEntries(Object.entries(ss).map(([u,p])=>[u,()=>Date.now()-l.current<1500&&document.querySelector(`.nav a[href="${p}"]`)?.click()]))}),s`<a class="skip" href="#main">Skip to the content</a>
    ${!t&&s`<header class="top">
      <a class="brand" href="/"><img src="/assets/icon.svg" alt="" width="24" height="24" />Gatekeeper</a>
      <nav class="nav" aria-label="Views">
        ${Zr.map(([u,p])=>{let c=u==="/"?n==="/"||n.startsWith("/s/"):n===u||n.startsWith(`${u}/`);return s`<a href=${u} aria-current=${c?"page":void 0}>${p}</a>`})}
      </nav>
      <div class="tools">
        <${rs} />
        <${os} />
        <${es} />
        <button type="button" class="plain" onClick=${()=>a(!0)} title="Keys"><span aria-hidden="true">?</span><span class="sr-only">Keys</span></button>
      </div>
    </header>`}
    <${ko} />
    <main id="main" tabindex="-1" ref=${r}>${e}</main>
    <${Eo} />
    <${Fo} />
    ${o&&s`<${ns} onClose=${()=>a(!1)} />`}`}function Z({children:e,aside:t}){return s`<div class="title"><h1 tabindex="-1">${e}</h1>${t&&s`<div class="row">${t}</div>`}</div>`}var jo=[["viewer","–","see definitions, permits, queues, history, jobs and status"],["acquirer","viewer","acquire, keep and release permits, take over, verify, submit jobs and work on them"],["verifier","–","verify permits, for a guarded resource"],["operator","viewer","pause, move, cordon, revoke and clear; cancel, retry and delete jobs; undo these"],["editor","viewer","create, replace and delete definitions; undo that"],["admin","all","everything, also change members, settings, bindings and tokens"]];function as(){let[e,t]=_({role:"ROLE_OPERATOR",semaphore:""}),[n,o]=_(null),[a,r]=_(null);return s`<section class="panel stack">
    <h2>May I?</h2>
    <form class="form" onSubmit=${l=>{l.preventDefault(),C("/v1/can-i",{role:e.role,semaphore:e.semaphore.trim()}).then(u=>(o(u),r(null)),r)}}>
      <${ke} label="Role" value=${e.role} onChange=${l=>t({...e,role:l})} options=${jo.map(([l])=>[`ROLE_${l.toUpperCase()}`,l])} />
      <${H} label="On semaphore" value=${e.semaphore} onInput=${l=>t({...e,semaphore:l})} help="Empty: anywhere." />
      <p class="row full"><button class="primary">Ask</button></p>
    </form>
    <div role="status">
      ${n&&(n.allowed?s`<p class="lead tone-run">Yes.</p>`:s`<p class="lead"><strong class="tone-deny">No.</strong> ${n.reason}</p>`)}
    </div>
    ${a&&s`<${B} error=${a} />`}
  </section>`}function is(){let e=x(t=>E("/v1/bindings",{},t),["bindings"]);return e.error?e.error.code==="PERMISSION_DENIED"?s`<${D} title="Only administrators see who may do what." />`:s`<${B} error=${e.error} retry=${e.refresh} />`:e.data?s`<${G}
      caption="Bindings"
      rows=${e.data.bindings}
      rowKey=${t=>t.name}
      empty=${s`<${D} title="There are no bindings." />`}
      columns=${[["Name",t=>t.name,"name"],["Subjects",t=>(t.subjects??[]).join(", ")||"–","name"],["May",t=>s`<ul class="changes">${(t.grants??[]).map(n=>s`<li>${hn(n)}</li>`)}</ul>`],["Tokens",t=>(t.tokens??[]).map(n=>`${n.id}${n.expires_at?` until ${L(n.expires_at)}`:""}`).join(", ")||"–"],["Changed",t=>`${L(t.updated_at)}${t.updated_by?` by ${t.updated_by}`:""}`,"num"]]}
    />
    <p class="faint">Change them with <code>gkctl auth bind</code>, <code>unbind</code> and <code>token</code>.</p>`:s`<${ve} what="Reading the bindings" />`}function qo(){ne("Access");let e=Q(Ee);return s`<${Z}>Access<//>
    <div class="stack">
      <section class="panel">
        <h2>You</h2>
        ${e?e.authenticated?s`<${Se} of=${[["Principal",e.principal],["Credential",e.credential],["You may",(e.grants??[]).map(hn).join("; ")||"nothing"],["Acquirers",(e.acquirers??[]).join(", ")]]} />`:s`<p>These servers do not authenticate callers: everybody may do everything.</p>`:s`<${ve} what="Asking who you are" />`}
      </section>
      <div class="panels">
        <${as} />
        <section class="panel"><h2>Roles</h2>
          <${G} caption="Roles" rows=${jo} columns=${[["Role",t=>t[0]],["Includes",t=>t[1]],["May",t=>t[2]]]} />
        </section>
      </div>
      <section class="panel"><h2>Who may do what</h2><${is} /></section>
    </div>`}var ls=["EVENT_KIND_CREATED","EVENT_KIND_REPLACED","EVENT_KIND_DELETED"],cs=e=>ls.includes(e)?"ROLE_EDITOR":"ROLE_OPERATOR";function ft({entries:e,semaphore:t,onChange:n}){let o="";return s`<ol class="entries">
    ${e.map(a=>{let r=a.revision!==o;return o=a.revision,s`<li key=${`${a.revision}.${a.ordinal??0}`} class=${r?"":"same"}>
        <div class="entry-head">
          <time class="num" datetime=${a.at} title=${L(a.at)}>${Mt(a.at)}</time>
          <span class="tag tone-${No(a.kind)}">${I(a.kind,"EVENT_KIND_")}</span>
          ${!t&&a.semaphore&&s`<a class="mono" href=${`/s/${encodeURIComponent(a.semaphore)}`}>${a.semaphore}</a>`}
          <span class="grow">${Io(a)}</span>
          <span class="faint"><a href=${`/activity?change=${a.revision}`}>change ${a.revision}</a>${a.author&&` by ${a.author}`}</span>
          ${r&&Mo(a)&&s`<${z} role=${cs(a.kind)} semaphore=${a.semaphore??""} onClick=${()=>Ye(a.revision,n)}>Undo …<//>`}
        </div>
        ${a.reason&&s`<p class="entry-reason">${a.reason}</p>`}
        ${a.before&&a.after&&s`<${$n} before=${a.before} after=${a.after} />`}
      </li>`})}
  </ol>`}function Uo(){ne("Activity");let[e,t]=U(),n=e.get("change")??"";return s`<${Z} aside=${n&&s`<a class="button" href="/activity">All activity</a>`}>${n?`Change ${n}`:"Activity"}<//>
    ${n?s`<${ds} change=${n} />`:s`<${ps} params=${e} change=${t} />`}`}var us=e=>e.split(/[\s,]+/).filter(Boolean).map(t=>/[*?[]/.test(t)?t:`*${t}*`);function ps({params:e,change:t}){let[n,o]=ye(e.get("q")??"",$=>t({q:$}),300),[a,r]=ye(e.get("labels")??"",$=>t({labels:$}),400),i=e.get("permits")==="1",l=e.get("by")??"",[u,p]=ye(l,$=>t({by:$}),300),[c,h]=_(50),d={names:us(e.get("q")??""),labels:e.get("labels")??"",permits:i},m=x($=>E("/v1/history",{...d,page_size:c},$),["journal",d,c],{every:15e3,keep:!0}),f=Ae(m.refresh,i?500:60);Te("/v1/watch",d,{message:({events:$=[]})=>$.length&&f(),missed:f,open:$=>$&&f()});let g=(m.data?.entries??[]).filter($=>!l||($.author??"").toLowerCase().includes(l.toLowerCase()));return s`<form class="filters" role="search" onSubmit=${$=>$.preventDefault()}>
      <div class="field grow"><label for="activity-q">Semaphores <kbd aria-hidden="true">/</kbd></label><input id="activity-q" data-search value=${n} onInput=${$=>o($.target.value)} placeholder="part of a name, or a glob" spellcheck=${!1} autocomplete="off" /></div>
      <div class="field"><label for="activity-by">By</label><input id="activity-by" value=${u} onInput=${$=>p($.target.value)} spellcheck=${!1} autocomplete="off" /></div>
      <div class="field"><label for="activity-labels">Labels</label><input id="activity-labels" value=${a} onInput=${$=>r($.target.value)} spellcheck=${!1} autocomplete="off" /></div>
      <${ie} label="Also how permits ended" checked=${i} onChange=${$=>t({permits:$?"1":""})} />
    </form>
    <section class="panel">
      <${K} of=${m} what="Reading the journal">
        ${$=>s`
          ${g.length?s`<${ft} entries=${g} onChange=${m.refresh} />`:s`<${D} title="The journal has nothing of that.">Edits, pauses, cordons and undos appear here as they happen.<//>`}
          ${$.next_page_token&&c<1e3&&s`<p class="row"><button type="button" onClick=${()=>h(Math.min(1e3,c*4))}>Show more</button></p>`}`}
      <//>
    </section>`}function ds({change:e}){let t=x(n=>E("/v1/history",{change:e,page_size:1e3},n),["change",e]);return s`<section class="panel">
    <${K} of=${t} what="Reading the journal">
      ${({entries:n=[],missing:o,next_page_token:a})=>s`
        ${o&&s`<p class="note">The journal has forgotten a part of this change${o.semaphores?.length?`: ${o.semaphores.join(", ")}`:""}.</p>`}
        ${n.length?s`<${ft} entries=${n} onChange=${t.refresh} />`:s`<${D} title=${`The journal has no change ${e}.`} />`}
        ${a&&s`<p class="faint">Only its first 1,000 entries are shown.</p>`}
        ${n.length>0&&n[0].undoes&&s`<p><a href=${`/activity?change=${n[0].undoes}`}>The change that it undoes</a></p>`}`}
    <//>
  </section>`}var qt="M4 14V2",Ho={idle:[qt,"M4 4l8-2"],running:[qt,"M4 3l9 4v-3l-9-2z"],waiting:[qt,"M4 5h9","M8 9h1M11 9h1M14 9h0"],paused:["M5.5 3v10","M10.5 3v10"],stopping:[qt,"M4 4h9v4H4z"],"held for an operator":["M5 7V5a3 3 0 0 1 6 0v2","M4 7h8v6H4z"],missed:["M8 2a6 6 0 1 0 .1 0z","M8 5v3.5l2.5 1.5"],denied:["M8 2a6 6 0 1 0 .1 0z","M4.5 8h7"],disabled:["M3.5 3.5l9 9","M12.5 3.5l-9 9"],cordoned:["M8 2a6 6 0 1 0 .1 0z","M4 4l8 8"]};function bn({word:e}){let t=Ho[e]??Ho.idle;return s`<svg class="glyph" viewBox="0 0 16 16" aria-hidden="true" focusable="false">
    ${t.map(n=>s`<path d=${n} />`)}
  </svg>`}function ht({value:e,text:t}){let n=So(e);return s`<span class="state tone-${n.tone}"><${bn} word=${n.word} /><span>${t??n.word}</span></span>`}function Wo({record:e}){let t=mt(e)[0];return s`<${ht} value=${t?.value} text=${Co(e)} />`}function Ut({tone:e="idle",children:t}){return s`<span class="tag tone-${e}">${t}</span>`}var ms=()=>x(e=>E("/v1/cordons",{},e),["cordons"],{every:15e3,keep:!0});function Ue(){let e=ms(),[t,n]=_(null),o=e.data?.cordons??[];if(o.length===0)return null;let a=r=>C("/v1/uncordon",{id:r.id,...ue(),...Dt()}).then(i=>{fe(`Cordon ${r.id} is ended.`,{action:{text:"Undo",run:()=>Ye(i.revision,e.refresh)}}),n(null),e.refresh()},n);return s`<section class="cordons" aria-label="Cordons in force">
    <${B} error=${t} />
    <ul>
      ${o.map(r=>s`<li key=${r.id}>
          <span class="state tone-deny"><${bn} word="cordoned" />cordoned</span>
          <span class="grow">${fn(r)}${r.reason&&`: ${r.reason}`}${r.author&&s`<span class="faint"> by ${r.author}</span>`}</span>
          <${z} role="ROLE_OPERATOR" onClick=${()=>a(r)}>End it<//>
        </li>`)}
    </ul>
  </section>`}function fs({member:e,onClose:t,onDone:n}){let[o,a]=_(null);return s`<${he} title="Hand leadership over" onClose=${t}>
    <form onSubmit=${i=>{i.preventDefault(),C("/v1/leadership:transfer",{id:e.id}).then(l=>{fe(`${l.leader_id} leads.`),n(),t()},a)}}>
      <p>${e.id} becomes the leader. Permits survive; calls wait a moment.</p>
      <${B} error=${o} />
      <p class="row end"><button type="button" onClick=${t}>Cancel</button><button class="primary">Let ${e.id} lead</button></p>
    </form>
  <//>`}function hs({status:e,onChange:t}){let[n,o]=_(null);return s`<section class="panel">
    <h2>Members</h2>
    <${G}
      caption="Members"
      rows=${e.members}
      rowKey=${a=>a.id}
      columns=${[["Server",a=>s`${a.id}${a.id===e.id&&s`<span class="faint"> (answers you)</span>`}`,"name"],["Role",a=>a.leader?s`<strong class="tone-run">leader</strong>`:a.voter?"follower":"non-voter"],["API",a=>a.api_address||"–","name"],["Peers",a=>a.peer_address||"–","name"],["",a=>a.voter&&!a.leader&&s`<${z} role="ROLE_ADMIN" onClick=${()=>o(a)}>Let it lead …<//>`,"end"]]}
    />
    ${n&&s`<${fs} member=${n} onClose=${()=>o(null)} onDone=${t} />`}
  </section>`}function $s({of:e}){return s`<section class="panel">
    <h2>Certificates</h2>
    <${G}
      caption="Certificates of this server"
      rows=${e}
      empty=${s`<${D} title="This server uses no TLS." />`}
      columns=${[["Port",t=>I(t.port,"CERTIFICATE_PORT_")],["Subject",t=>t.subject||"–","name"],["Ends",t=>{if(t.error)return s`<span class="tone-deny">${t.error}</span>`;let n=Date.parse(t.not_after)-et();return s`<span class=${n<7*864e5?"tone-deny":n<30*864e5?"tone-wait":""}>${L(t.not_after)}, ${n>0?`in ${X(n)}`:"it has ended"}</span>`}]]}
    />
  </section>`}var _s=e=>M(e)<0?`${_e(-M(e))} behind`:`${_e(M(e))} ahead`;function gs({status:e}){let t=[...(e.member_clocks??[]).map(o=>({name:`server ${o.id}`,ahead:o.ahead})),...(e.host_clocks??[]).map(o=>({name:F(o),ahead:o.ahead,seen:o.seen}))],n=e.role==="SERVER_ROLE_LEADER";return s`<section class="panel">
    <h2>Clocks</h2>
    <${G}
      caption="Clocks that are off"
      rows=${t.slice(0,100)}
      empty=${s`<${D} title=${n?"No clock is off.":"Only the leader compares clocks."} />`}
      columns=${[["Whose",o=>o.name,"name"],["Off by",o=>s`<span class="tone-stop">${_s(o.ahead)}</span>`,"num"],["Seen",o=>o.seen?s`<${le} at=${o.seen} /> ago`:"within the last minute","num"]]}
    />
  </section>`}function vs({status:e}){let t=Number(e.work_bytes??0),n=Number(e.max_work_bytes??0);return s`<section class="panel">
    <h2>Stored for jobs</h2>
    <p class="row"><${$e} share=${n?t/n:0} label="${ge(t)} of ${ge(n)}" /><span class="num">${ge(t)} of ${ge(n)}</span></p>
    <${G}
      caption="Semaphores with jobs"
      rows=${e.work}
      empty=${s`<${D} title="There are no jobs." />`}
      columns=${[["Semaphore",o=>s`<a href=${`/s/${encodeURIComponent(o.semaphore)}?tab=tasks`}>${o.semaphore}</a>`,"name"],["Jobs",o=>b(o.jobs),"num"],["Waiting",o=>b(o.waiting),"num"],["Running",o=>b(o.held),"num"],["Stored",o=>ge(o.bytes),"num"]]}
    />
  </section>`}function bs(){let e=x(n=>E("/v1/settings",{stale:!0},n),["settings"]),t=(n,o)=>typeof o=="string"&&/s$/.test(o)?_e(M(o)):/bytes/.test(n)?ge(o):b(o);return s`<section class="panel">
    <h2>Settings</h2>
    <${K} of=${e} what="Reading the settings">
      ${n=>s`<${Se} of=${Object.entries(n.settings??{}).map(([o,a])=>[o,t(o,a)])} />
        <p class="faint">Change them with <code>gkctl cluster settings NAME=VALUE</code>.</p>`}
    <//>
  </section>`}function Ko(){ne("Cluster");let e=x(t=>E("/v1/status",{},t),["status"],{every:2e3,keep:!0});return s`<${Z}>Cluster<//>
    <${Ue} />
    <${K} of=${e} what="Asking this server">
      ${t=>{let n=Number(t.commit_index??0)-Number(t.applied_index??0);return s`<div class="stack">
          ${!t.leader_id&&s`<p class="failure" role="alert">There is no leader. Nothing is granted until a majority of the servers is there.</p>`}
          ${t.recovery_wait&&s`<p class="note">Nothing is granted for another ${X(M(t.recovery_wait))}: a recovery is being waited out.</p>`}
          ${t.insecure&&s`<p class="note">This server was started with --insecure: its ports may be reached without TLS and authentication.</p>`}
          ${t.denied_semaphores>0&&s`<div class="note"><p>${R(t.denied_semaphores,"semaphore is","semaphores are")} asked for in vain:</p>
            <ul>${t.denied.map(o=>s`<li key=${o.semaphore}><a href=${`/s/${encodeURIComponent(o.semaphore)}`}>${o.semaphore}</a>: ${o.text||o.message}</li>`)}</ul></div>`}
          <section class="panel">
            <h2>Server ${t.id}</h2>
            <${Se} of=${[["Cluster",s`<code>${t.cluster_id}</code>`],["Leader",t.leader_id||"none"],["This server is",I(t.role,"SERVER_ROLE_")||"stopping"],["Term",t.term],["Revision",t.revision],["Applied",s`${t.applied_index}${n>0&&s`<span class="tone-wait"> (${b(n)} behind)</span>`}`],["Definitions",b(t.definitions)],["Permits",b(t.permits)],["Waiters",t.role==="SERVER_ROLE_LEADER"?b(t.waiters):"the leader knows"],["Log writes",t.log_writes&&s`<span>${_e(Bo(t.log_writes.median))} median, ${_e(Bo(t.log_writes.longest))} longest, of ${b(t.log_writes.count)}</span>`],["Last snapshot",t.last_snapshot?s`${t.last_snapshot.taken_at?s`<${le} at=${t.last_snapshot.taken_at} /> ago`:`index ${t.last_snapshot.index}`}, ${ge(t.last_snapshot.bytes)}`:"none yet"],["Smallest safe duration",t.smallest_duration&&_e(M(t.smallest_duration))],["Version",t.version],["Feature level",t.feature_level],["Up for",t.uptime&&X(M(t.uptime))]]} />
          </section>
          <div class="panels">
            <${hs} status=${t} onChange=${e.refresh} />
            <${$s} of=${t.certificates} />
            <${gs} status=${t} />
            <${vs} status=${t} />
          </div>
          <${bs} />
        </div>`}}
    <//>`}var Bo=e=>+(parseFloat(e??"0")*1e3).toFixed(2);var yn=e=>e.failed?"deny":e.over?"run":I(e.state,"JOB_STATE_")==="cancelled"?"stop":"accent",wn=e=>{let t=I(e.state,"JOB_STATE_");return t==="cancelled"&&!e.over?"cancelled, some tasks still run":t},kn=e=>["waiting","held","done","failed","dropped","cancelled"].filter(t=>e[t]).map(t=>`${b(e[t])} ${t}`).join(", ");function En({job:e}){let t=e.tasks??0,n=`${b(e.done)} of ${R(t,"task","tasks")} done`;return s`<div class="job-progress">
    <${Lo}
      total=${t}
      label="${n}; ${kn(e)}"
      parts=${[[e.done??0,"run"],[e.held??0,"accent"],[e.failed??0,"deny"],[e.dropped??0,"stop"],[e.cancelled??0,"idle"]]}
    />
    <span class="num">${n}</span>
  </div>`}function xn({jobs:e}){return s`<${G}
    caption="Jobs"
    rows=${e}
    rowKey=${t=>t.submitted_revision}
    columns=${[["Job",t=>s`<a href=${`/jobs/${encodeURIComponent(t.spec.id)}`}>${t.spec.id}</a>`,"name"],["Semaphore",t=>s`<a href=${`/s/${encodeURIComponent(t.spec.semaphore)}`}>${t.spec.semaphore}</a>`,"name"],["State",t=>s`<span class="tag tone-${yn(t)}">${wn(t)}</span>`],["Progress",t=>s`<${En} job=${t} />`],["Failed",t=>t.failed?s`<strong class="tone-deny">${b(t.failed)}</strong>`:"0","num"],["Submitted",t=>s`<span title=${L(t.submitted_at)}><${le} at=${t.submitted_at} /> ago</span>${t.spec.author&&s`<div class="sub">by ${t.spec.author}</div>`}`,"num"],["Stored",t=>ge(t.bytes),"num"]]}
  />`}function zo(e){return e.away?["away","stop"]:e.draining?["draining","wait"]:e.denied&&e.denied!=="REASON_UNSPECIFIED"?[`denied: ${I(e.denied,"REASON_")}`,"deny"]:e.waiting?["waiting","wait"]:e.tasks?.length?["working","run"]:["idle","idle"]}var ys=e=>e.state==="PERMIT_STATE_HELD"?"lost: clear its slot":e.state==="PERMIT_STATE_COOLING"?`lost: cools for ${X(M(e.expires_in))}`:"";function Tn({data:e}){let t=[...e.workers??[],...e.away??[]];return s`<${G}
    caption="Workers"
    rows=${t}
    rowKey=${(n,o)=>`${n.semaphore} ${F(n.identity)} ${n.identity?.holder_id} ${o}`}
    empty=${s`<${D} title="Nobody works.">A worker is a program that takes tasks, as gkctl work does.<//>`}
    columns=${[["Worker",n=>F(n.identity),"name"],["Semaphore",n=>s`<a href=${`/s/${encodeURIComponent(n.semaphore)}`}>${n.semaphore}</a>`,"name"],["State",n=>s`<span class="tag tone-${zo(n)[1]}">${zo(n)[0]}</span>`],["Free",n=>b(n.free),"num"],["Tasks",n=>n.tasks?.length?s`<ul class="held">${n.tasks.slice(0,8).map(o=>s`<li key=${o.token}><a href=${`/jobs/${encodeURIComponent(o.job)}`}>${o.job}</a> ${b(o.index)}, for <${le} at=${o.granted_at} />
                ${o.progress&&s` <${$e} share=${o.progress.fraction} label="${Math.round(100*(o.progress.fraction??0))} %" /> ${o.progress.text}`} ${ys(o)}</li>`)}${n.tasks.length>8&&s`<li>and ${b(n.tasks.length-8)} more</li>`}</ul>`:"–"]]}
  />`}var ws=[["","any"],["JOB_STATE_OPEN","open"],["JOB_STATE_ENDED","ended"],["JOB_STATE_CANCELLED","cancelled"],["JOB_STATE_RECEIVING","receiving"]];function ks(){let[e,t]=U(),[n,o]=ye(e.get("semaphore")??"",c=>t({semaphore:c}),300),[a,r]=ye(e.get("labels")??"",c=>t({labels:c}),300),i={semaphore:e.get("semaphore")??"",labels:e.get("labels")??"",states:e.getAll("state")},[l,u]=_(""),p=x(c=>E("/v1/jobs",{...i,page_size:100,page_token:l},c),["jobs",i,l],{every:2e3,keep:!0});return s`<form class="filters" role="search" onSubmit=${c=>c.preventDefault()}>
      <div class="field"><label for="job-semaphore">Semaphore</label><input id="job-semaphore" data-search value=${n} onInput=${c=>o(c.target.value)} spellcheck=${!1} /></div>
      <div class="field"><label for="job-labels">Labels</label><input id="job-labels" value=${a} onInput=${c=>r(c.target.value)} placeholder="team=billing" spellcheck=${!1} /></div>
      <${ke} label="State" value=${e.get("state")??""} onChange=${c=>t({state:c})} options=${ws} />
    </form>
    <section class="panel">
      <${K} of=${p} what="Reading the jobs">
        ${c=>s`
          ${c.jobs?.length?s`<${xn} jobs=${c.jobs} />`:s`<${D} title="No job matches.">Jobs are submitted by programs, or with gkctl job submit.<//>`}
          <p class="row end">
            ${l&&s`<button type="button" onClick=${()=>u("")}>First page</button>`}
            ${c.next_page_token&&s`<button type="button" onClick=${()=>u(c.next_page_token)}>Next page</button>`}
          </p>`}
      <//>
    </section>`}function Es(){let e=x(t=>E("/v1/workers",{},t),["workers"],{every:2e3,keep:!0});return s`<section class="panel"><${K} of=${e} what="Reading the workers">${t=>s`<${Tn} data=${t} />`}<//></section>`}function Vo(){ne("Jobs");let[e]=U();return s`<${Z}>Jobs<//>
    <${nt} of=${[["jobs","Jobs"],["workers","Workers"]]} label="Jobs and workers" />
    ${e.get("tab")==="workers"?s`<${Es} />`:s`<${ks} />`}`}function Ht({title:e,text:t,verb:n,run:o,done:a,onClose:r,onDone:i,reason:l}){let[u,p]=_(""),[c,h]=_(null),[d,m]=_(!1);return s`<${he} title=${e} onClose=${r}>
    <form onSubmit=${async g=>{if(g.preventDefault(),!d){m(!0);try{fe(a(await o(u))),i(),r()}catch($){h($),m(!1)}}}}>
      <p>${t}</p>
      ${l&&s`<${H} label="Reason" value=${u} onInput=${p} maxlength="1024" />`}
      <${B} error=${c} />
      <p class="row end"><button type="button" onClick=${r}>Cancel</button><button class="primary">${d?"Working …":n}</button></p>
    </form>
  <//>`}function xs({job:e,onChange:t}){let[n,o]=_(""),{id:a,semaphore:r}=e.spec,i=I(e.state,"JOB_STATE_"),l={onClose:()=>o(""),onDone:t},u=(p,c,h)=>s`<${z} role="ROLE_OPERATOR" semaphore=${r} why=${h} onClick=${()=>o(p)}>${c}<//>`;return s`
    ${u("retry","Retry failed …",e.failed?"":"No task has failed.")}
    ${u("drop","Drop failed …",e.failed?"":"No task has failed.")}
    ${u("cancel","Cancel …",e.over?"The job is over.":i==="cancelled"?"It is cancelled already.":"")}
    ${u("delete","Delete …",e.over?"":"The job is not over. Cancel it first.")}
    ${n==="retry"&&s`<${Ht} ...${l} title="Retry failed tasks" verb="Retry" text=${`${R(e.failed,"failed task is","failed tasks are")} handed out again.`}
      run=${()=>C(se`/v1/jobs/${a}:retry`,{as_of:e.revision})} done=${p=>`${R(p.tasks??0,"task","tasks")} handed out again.`} />`}
    ${n==="drop"&&s`<${Ht} ...${l} title="Drop failed tasks" verb="Drop" text=${`${R(e.failed,"failed task is","failed tasks are")} given up. They cannot be retried.`}
      run=${()=>C(se`/v1/jobs/${a}:drop`,{as_of:e.revision})} done=${p=>`${R(p.tasks??0,"task","tasks")} dropped.`} />`}
    ${n==="cancel"&&s`<${Ht} ...${l} title=${`Cancel ${a}`} verb="Cancel the job" reason
      text=${`${R(e.waiting??0,"waiting task is","waiting tasks are")} not executed, and ${R(e.held??0,"running task stops","running tasks stop")}.`}
      run=${p=>C(se`/v1/jobs/${a}:cancel`,{reason:p,submitted_revision:e.submitted_revision,...ue()})} done=${()=>`${a} is cancelled.`} />`}
    ${n==="delete"&&s`<${Ht} ...${l} title=${`Delete ${a}`} verb="Delete the job" text="The job is removed with its results."
      run=${()=>Ge("DELETE",se`/v1/jobs/${a}`,{query:{submitted_revision:e.submitted_revision}})} done=${()=>`${a} is deleted.`} onDone=${()=>be("/jobs")} />`}`}var Jo={waiting:"idle",held:"accent",done:"run",failed:"deny",dropped:"stop",cancelled:"stop"},Ts=[["","any"],...Object.keys(Jo).map(e=>[e,e])];function Ss({job:e,index:t,onClose:n}){let o=x(a=>E(se`/v1/jobs/${e}/tasks`,{from:t,page_size:1,payloads:!0,results:!0},a),["task",e,t]);return s`<${he} title=${`Task ${t} of ${e}`} onClose=${n} wide>
    <${K} of=${o} what="Reading the task">
      ${a=>{let r=a.tasks?.[0];return r?s`<${Se} of=${[["State",I(r.state,"TASK_STATE_")],["Attempts",b(r.attempts)],["Worker",r.worker&&F(r.worker)],["Token",r.token],["Returned unfinished",r.returns]]} />
          ${r.failure&&s`<h3>Failure</h3><pre>${r.failure}</pre>`}
          <h3>Payload</h3><pre>${cn(r.payload)||"(none)"}</pre>
          <h3>Result</h3><pre>${cn(r.result)||"(none)"}</pre>`:s`<${D} title="There is no such task." />`}}
    <//>
  <//>`}function Cs({id:e,round:t}){let[n,o]=U(),a=n.get("task")??"",[r,i]=_(0),[l,u]=_(null),p={states:a?[`TASK_STATE_${a.toUpperCase()}`]:[],from:r,page_size:100},c=x(h=>E(se`/v1/jobs/${e}/tasks`,p,h),["tasks",e,p,t],{keep:!0});return s`<section class="panel">
    <div class="title"><h2>Tasks</h2>
      <${ke} label="In state" value=${a} onChange=${h=>(i(0),o({task:h}))} options=${Ts} /></div>
    <${K} of=${c} what="Reading the tasks">
      ${h=>s`<${G}
          caption="Tasks"
          rows=${h.tasks}
          rowKey=${d=>d.index??0}
          empty=${s`<${D} title="No task is in that state." />`}
          columns=${[["Task",d=>s`<button type="button" class="plain" onClick=${()=>u(d.index??0)}>${b(d.index)}<span class="sr-only">: show payload and result</span></button>`,"num"],["State",d=>s`<span class="tag tone-${Jo[I(d.state,"TASK_STATE_")]}">${I(d.state,"TASK_STATE_")}</span>`],["Attempts",d=>b(d.attempts),"num"],["Worker",d=>d.worker?F(d.worker):"–","name"],["Progress",d=>d.progress?s`<${$e} share=${d.progress.fraction} label=${`${Math.round(100*(d.progress.fraction??0))} %`} /> ${d.progress.text}`:"–"],["Failure",d=>d.failure||"–"]]}
        />
        <p class="row end">
          ${r>0&&s`<button type="button" onClick=${()=>i(0)}>First page</button>`}
          ${h.next>0&&s`<button type="button" onClick=${()=>i(h.next)}>Next page</button>`}
        </p>`}
    <//>
    ${l!==null&&s`<${Ss} job=${e} index=${l} onClose=${()=>u(null)} />`}
  </section>`}function Go({name:e}){ne(e);let t=x(p=>E(se`/v1/jobs/${e}`,{},p),["job",e],{every:15e3}),[n,o]=_(0),a=Ae(()=>o(p=>p+1),1e3),[r,i]=_(null),l=()=>{t.refresh(),a(),i(null)},u=t.data?.job;return T(()=>{u&&!u.over&&r===null&&i(u.revision)},[u?.over,r]),Te(r!==null?se`/v1/jobs/${e}:follow`:null,{after_revision:r},{message(p){p.job&&t.set(()=>({job:p.job})),a()},end:l}),t.error?.code==="NOT_FOUND"?s`<${Z}>${e}<//><${D} title="There is no job of this id.">It may have been deleted, or kept for its time. <a href="/jobs">All jobs</a><//>`:u?s`<${Z} aside=${s`<${xs} job=${u} onChange=${l} />`}>${e}<//>
    <div class="stack">
      <section class="panel stack">
        <p class="row"><span class="tag tone-${yn(u)}">${wn(u)}</span><span>${kn(u)}</span></p>
        <${En} job=${u} />
        ${u.cancel_text&&s`<p class="note">Cancelled ${u.cancel_text}</p>`}
        <${Se} of=${[["Semaphore",s`<a href=${`/s/${encodeURIComponent(u.spec.semaphore)}`}>${u.spec.semaphore}</a>`],["Submitted",`${L(u.submitted_at)}${u.spec.author?` by ${u.spec.author}`:""}`],["Ended",u.ended_at&&`${L(u.ended_at)}, after ${X(Date.parse(u.ended_at)-Date.parse(u.submitted_at))}`],["Priority",u.spec.priority],["Attempts of a task",u.spec.max_attempts],["Timeout",Qe(u.spec.timeout)],["Kept after its end",Qe(u.spec.retention)],["Stored",ge(u.bytes)],["Labels",Object.entries(u.spec.labels??{}).map(([p,c])=>`${p}=${c}`).join(", ")]]} />
      </section>
      <${Cs} id=${e} round=${n} />
    </div>`:s`<${Z}>${e}<//>${t.error&&!t.error.offline?s`<${B} error=${t.error} retry=${t.refresh} />`:s`<${ve} what="Reading the job" />`}`}function Qo(){ne("Log in");let[e]=U(),[t,n]=_(""),[o,a]=_(null),[r,i]=_(!1),l=e.get("next")??"/";return s`<div class="login">
    <img src="/assets/icon.svg" alt="" width="48" height="48" />
    <${Z}>Log in to Gatekeeper<//>
    <form onSubmit=${async p=>{p.preventDefault(),i(!0);try{await fo(t.trim()),be(/^\/(?![/\\])/.test(l)?l:"/",{replace:!0})}catch(c){a(c),i(!1)}}}>
      <${H}
        label="Bearer token"
        help="From gkctl auth token create. It stays in this browser as a cookie that scripts cannot read, for 12 hours."
        type="password"
        autocomplete="current-password"
        value=${t}
        onInput=${n}
        required
        autofocus
      />
      ${o&&s`<${B} error=${o.status===401?{message:"The servers do not know this token. It may have ended, or been revoked."}:o} />`}
      <p class="row end"><button class="primary" disabled=${r||!t.trim()}>${r?"Asking …":"Log in"}</button></p>
    </form>
  </div>`}function Yo({change:e,effects:t,onEnd:n}){let o=me(()=>t.flatMap(f=>f.stopped??[]),[t]),a=me(()=>Date.now(),[e]),[r,i]=_({});Oe();let l=o.filter(f=>!r[f.permit.token]),u=[...new Set(l.map(f=>f.permit.semaphore))],p=me(()=>u.length<=40?u:[],[e]),c=f=>f.length&&i(g=>({...Object.fromEntries(f),...g})),h=async()=>{let{items:f}=await we("/v1/holders",{names:p},"permits",void 0,1e5),g=new Map(f.map($=>[$.token,$]));c(o.filter($=>!g.has($.permit.token)).map($=>[$.permit.token,{how:"gone",after:Date.now()-a}]))};if(Te(o.length?"/v1/watch":null,{names:p,permits:!0,from_revision:String(BigInt(e)+1n)},{message({events:f=[]}){let g=new Set(o.map($=>$.permit.token));c(f.filter($=>$.permit&&g.has($.permit.token)&&$.ended).map($=>[$.permit.token,{how:I($.ended,"PERMIT_END_"),after:Date.now()-a}]))},missed:()=>h().catch(()=>{})}),T(()=>{o.length&&l.length===0&&n?.()},[l.length]),o.length===0)return s`<p class="lead">No holder had to stop.</p>`;let d=l.filter(f=>Date.now()-a>M(f.free_within)),m=o.length-l.length;return s`<section class="follow" aria-label="Holders that stop">
    <p class="lead" role="status">
      ${l.length===0?`${R(o.length,"holder has","holders have")} stopped.`:`${b(m)} of ${R(o.length,"holder has","holders have")} stopped.`}
      ${d.length>0&&s` <strong>${R(d.length,"holder","holders")} did not stop in time.</strong>`}
    </p>
    <${$e} share=${m/o.length} tone=${d.length?"stop":"run"} label=${`${m} of ${o.length} stopped`} />
    <${G}
      caption="Holders that must stop"
      rows=${[...d,...l.filter(f=>!d.includes(f)),...o.filter(f=>r[f.permit.token])].slice(0,600)}
      rowKey=${f=>f.permit.token}
      columns=${[["Semaphore",f=>s`<a href=${`/s/${encodeURIComponent(f.permit.semaphore)}`}>${f.permit.semaphore}</a>`,"name"],["Holder",f=>F(f.permit.identity),"name"],["Token",f=>f.permit.token,"num"],["Now",f=>{let g=r[f.permit.token];if(g)return s`<span class="tone-run">${g.how} after ${X(g.after)}</span>`;let $=a+M(f.free_within)-Date.now();return $>0?s`<span class="tone-wait">stops within <span class="num">${tt($)}</span></span>`:s`<span class="tone-deny">did not stop in time</span>`}]]}
    />
  </section>`}function He({lasts:e,until:t}){return e?.trim()?{lasts:xe(e)}:t?{until:new Date(t).toISOString()}:{}}var Ce=e=>e?.trim()?{drain:xe(e)}:{};function We(e){try{return e(),""}catch(t){return t.message}}function Xe({value:e,set:t,without:n="It stays until somebody ends it."}){return s`<${H}
      label="For"
      placeholder="2h"
      value=${e.lasts??""}
      onInput=${o=>t({...e,lasts:o,until:""})}
      error=${We(()=>xe(e.lasts??""))}
      help=${`As 30m or 2h. ${n}`}
    />
    <${H} label="Or until" type="datetime-local" value=${e.until??""} onInput=${o=>t({...e,until:o,lasts:""})} />`}function Be({value:e,set:t}){return s`<${H}
    label="Drain"
    placeholder="2m"
    value=${e.drain??""}
    onInput=${n=>t({...e,drain:n})}
    error=${We(()=>xe(e.drain??""))}
    help="How long holders that must stop may continue. Empty: their next refresh is refused."
  />`}var Re=100;function Ze(e){let t=JSON.stringify(e),n=Q(Me),[,o]=_(0),a=()=>o(h=>h+1),r=me(()=>({pages:new Map,asked:new Map,tokens:[""],total:void 0,window:[0,30],skips:Ze.skips}),[t]),i=Y(r);i.current=r;let l=(h,d)=>{if(!d&&(r.pages.has(h)||r.asked.has(h))||!r.skips&&r.tokens[h]===void 0)return;r.asked.get(h)?.abort();let m=new AbortController;r.asked.set(h,m);let f=r.skips?{skip:h*Re}:{page_token:r.tokens[h]};E("/v1/definitions",{...e,page_size:Re,...f},m.signal).then(g=>{if(i.current!==r)return;r.asked.delete(h),r.error=void 0;let $=g.records??[];r.pages.set(h,$),g.total===void 0&&$.length>0&&(r.skips=Ze.skips=!1),g.total!==void 0?r.total=g.total:g.next_page_token?(r.tokens[h+1]=g.next_page_token,r.total=Math.max(r.total??0,(h+1)*Re+1),r.more=!0):(r.total=h*Re+$.length,r.more=!1),a(),u(...r.window)},g=>{if(!(m.signal.aborted||i.current!==r)){if(r.asked.delete(h),r.skips&&g.status===400&&/skip|search|parameter/i.test(g.message))return r.skips=Ze.skips=!1,l(0,!0);r.error=g,a()}})},u=(h,d)=>{r.window=[h,d];let m=Math.floor(h/Re),f=Math.floor(Math.max(h,d-1)/Re);for(let[g,$]of r.asked)r.skips&&(g<m-1||g>f+1)&&($.abort(),r.asked.delete(g));if(!r.skips){let g=r.pages.size;f>=g&&l(g);return}for(let g=m;g<=f;g++)l(g)},p=()=>{let[h,d]=r.window,m=new Set;for(let f=Math.floor(h/Re);f<=Math.floor(Math.max(h,d-1)/Re);f++)m.add(f);if(r.skips)for(let f of[...r.pages.keys()])m.has(f)||r.pages.delete(f);for(let f of m)l(f,!0)},c=Y(p);return c.current=p,T(()=>(l(0),()=>r.asked.forEach(h=>h.abort())),[t]),T(()=>{n&&c.current()},[n]),T(()=>{let h=setInterval(()=>document.hidden||c.current(),15e3);return()=>clearInterval(h)},[]),{at:h=>r.pages.get(Math.floor(h/Re))?.[h%Re],total:r.total,more:r.more,error:r.error,want:u,refresh:p,update(h){let d=new Map(h.map(m=>[m.definition.name,m]));for(let m of r.pages.values())m.forEach((f,g)=>{let $=d.get(f.definition.name);$&&(m[g]=$)});a()}}}Ze.skips=!0;var Xo=8,Wt=4;function Zo({total:e,height:t,row:n,range:o,open:a,label:r,head:i,columns:l}){let u=Y(null),[p,c]=_([0,30]),[h,d]=_(0),m=Y(!1);it(()=>{let k=0,V=()=>{k=0;let O=u.current?.getBoundingClientRect();if(!O)return;let P=Math.max(0,Math.floor(-O.top/t/Wt)*Wt-Xo),W=Math.min(e,Math.ceil((innerHeight-O.top)/t/Wt)*Wt+Xo);c(j=>j[0]===P&&j[1]===W?j:[P,Math.max(P,W)])},ae=()=>k||=requestAnimationFrame(V);V(),addEventListener("scroll",ae,{passive:!0}),addEventListener("resize",ae);let w=new ResizeObserver(ae);return w.observe(document.body),()=>{cancelAnimationFrame(k),removeEventListener("scroll",ae),removeEventListener("resize",ae),w.disconnect()}},[e,t]),T(()=>{o?.(p[0],p[1])},[p[0],p[1],e]),it(()=>{if(!m.current)return;let k=u.current?.querySelector(`[data-row="${h}"]`);k&&(m.current=!1,k.focus({preventScroll:!0}),k.scrollIntoView({block:"nearest"}))});let f=Math.min(h,Math.max(0,e-1)),g=k=>{if(e===0)return;m.current=!0,d(Math.max(0,Math.min(e-1,k)));let V=u.current.getBoundingClientRect().top+scrollY+k*t;(V<scrollY||V>scrollY+innerHeight)&&scrollTo(0,Math.max(0,V-innerHeight/2))},$=Math.max(1,Math.floor(innerHeight/t)-4),S={ArrowDown:()=>g(f+1),ArrowUp:()=>g(f-1),PageDown:()=>g(f+$),PageUp:()=>g(f-$),Home:()=>g(0),End:()=>g(e-1),Enter:()=>a?.(f)},y=k=>{!S[k.key]||k.ctrlKey||k.metaKey||k.altKey||k.key==="Enter"&&k.target.tagName==="A"||(k.preventDefault(),S[k.key]())},A=k=>{let V=k.target.closest("[data-row]");V&&d(Number(V.dataset.row))};T(()=>{let k=()=>g(f);return addEventListener("enter-list",k),()=>removeEventListener("enter-list",k)});let N=[];for(let k=p[0];k<Math.min(p[1],e);k++)N.push(k);return e>0&&(f<p[0]||f>=p[1])&&N.push(f),s`<div class="grid" role="grid" aria-label=${r} aria-rowcount=${e+1} aria-colcount=${l} onKeyDown=${y} onFocusIn=${A}>
    <div class="grid-head" role="row" aria-rowindex="1">${i}</div>
    <div class="grid-body" role="rowgroup" ref=${u} style=${{height:`${e*t}px`}}>
      ${N.map(k=>s`<div
          key=${k}
          class="grid-row"
          role="row"
          aria-rowindex=${k+2}
          data-row=${k}
          tabindex=${k===f?0:-1}
          style=${{transform:`translateY(${k*t}px)`,height:`${t}px`}}
        >${n(k)}</div>`)}
    </div>
  </div>`}function Rn(e){return{search:e.get("q")??"",group:e.get("group")??"",labels:e.get("labels")??"",states:e.getAll("state").map(t=>`DEFINITION_STATE_${t.toUpperCase()}`)}}var Rs=e=>{if(Ze.skips||!e.search)return e;let{search:t,...n}=e;return{...n,names:[`*${t.trim()}*`]}},Sn=e=>e.value.slice(17).toLowerCase();function Ds({counts:e,total:t}){let[n,o]=U(),a=n.getAll("state"),r=i=>o({state:a.includes(i)?a.filter(l=>l!==i):[...a,i]});return s`<div class="states" role="group" aria-label="Filter by state">
    <button type="button" class="stat" aria-pressed=${a.length===0} onClick=${()=>o({state:""})}>
      <span class="stat-n num">${t===void 0?"–":b(t)}</span><span class="stat-w">all</span>
    </button>
    ${Pt.map(i=>{let l=e?.get(i.value);return s`<button
        type="button"
        key=${i.value}
        class="stat ${e&&!l?"zero":""} tone-${i.tone}"
        aria-pressed=${a.includes(Sn(i))}
        title=${i.help}
        onClick=${()=>r(Sn(i))}
      >
        <span class="stat-n num">${e?b(l):"–"}</span><span class="stat-w"><${ht} value=${i.value} text=${Sn(i)} /></span>
      </button>`})}
  </div>`}var Os=e=>/[,=!()"]/.test(e)?`"${e.replaceAll('"','\\"')}"`:e;function As({labels:e}){let[t,n]=U(),o=t.get("labels")??"",[a,r]=ye(o,c=>n({labels:c}),400),[i,l]=_(""),u=e?.find(c=>c.key===i)?.values??[],p=c=>{c&&(n({labels:[o,c==="*"?i:`${i}=${Os(c)}`].filter(Boolean).join(",")}),l(""))};return s`<div class="field">
      <label for="labels">Labels</label>
      <input id="labels" value=${a} placeholder="team=data,tier!=test" onInput=${c=>r(c.target.value)} autocomplete="off" spellcheck=${!1} />
    </div>
    ${e?.length>0&&s`<${ke} label="Add a label" value=${i} onChange=${l} options=${[["","Label …"],...e.map(c=>[c.key,c.key])]} />
      ${i&&s`<${ke} label="Value" value="" onChange=${p} options=${[["","Value …"],["*","any value"],...u.map(c=>[c.value,`${c.value} (${b(c.count)})`])]} />`}`}`}function Is({summary:e,shown:t}){let[n,o]=U(),[a,r]=ye(n.get("q")??"",d=>o({q:d})),[i,l]=ye(n.get("group")??"",d=>o({group:d}),400),u=["q","group","labels","state"].filter(d=>n.get(d)),p=e?.groups??[],c=Lt("(min-width: 60rem)");return s`<form class="filters" role="search" onSubmit=${d=>d.preventDefault()}>
    <div class="field grow">
      <label for="search">Search <kbd aria-hidden="true">/</kbd></label>
      <input id="search" type="search" data-search value=${a} placeholder="Words of name, description or label" onInput=${d=>r(d.target.value)} onKeyDown=${d=>{d.key!=="ArrowDown"&&d.key!=="Enter"||(d.preventDefault(),dispatchEvent(new Event("enter-list")))}} autocomplete="off" spellcheck=${!1} />
    </div>
    <details class="more-filters" open=${c||u.some(d=>d==="group"||d==="labels")}>
      <summary>Filters</summary>
      <div class="filters-in">
        <div class="field">
          <label for="group">Lets in group</label>
          <input id="group" value=${i} list="groups" placeholder="any" onInput=${d=>l(d.target.value)} autocomplete="off" spellcheck=${!1} />
          <datalist id="groups">${p.map(d=>s`<option value=${d.value??d.group??d} />`)}</datalist>
        </div>
        <${As} labels=${e?.labels} />
      </div>
    </details>
    <p class="row filters-end">
      <span class="num" role="status">${t}</span>
      ${u.length>0&&s`<button type="button" onClick=${()=>o({q:"",group:"",labels:"",state:""})}>Clear the filters</button>`}
      <a class="button" href=${`/move?${new URLSearchParams([...n,["from_filter","1"]])}`}>Move or pause these</a>
    </p>
  </form>`}var Cn=["State","Semaphore","In use","Holder","Time left","Queue","Lets in group"];function Ns({record:e,permits:t,live:n}){if(!e)return s`<span class="row-loading" role="gridcell" aria-colspan=${Cn.length}>Reading …</span>`;let o=e.definition,a=t?.[0],r=(e.holders??0)-1,i=Ft(e)[0],l=`/s/${encodeURIComponent(o.name)}`,u=Number(e.used??0),p=o.permits??0,c=n?.waiters??e.waiters??0;return s`
    <span class="c-state" role="gridcell"><${Wo} record=${e} /></span>
    <span class="c-name" role="rowheader">
      <a href=${l} tabindex="-1">${o.name}</a>
      <span class="sub">${i??o.description??""}</span>
    </span>
    <span class="c-used num" role="gridcell">
      <${$e} share=${p?u/p:u?1:0} tone=${u>p?"deny":"accent"} label="${u} of ${p} permits in use" />
      <span>${b(u)}<span class="faint"> / ${b(p)}</span></span>
    </span>
    <span class="c-holder" role="gridcell">
      ${a?s`<span class="clip">${F(a.identity)}</span><span class="sub">for <${le} at=${a.granted_at} />${r>0&&` and ${b(r)} more`}</span>`:r>=0?s`<span class="sub">${R(r+1,"holder","holders")}</span>`:s`<span class="faint">–</span>`}
    </span>
    <span class="c-left" role="gridcell">${a?s`<${jt} at=${a.deadline} of=${M(a.duration)} />`:s`<span class="faint">–</span>`}</span>
    <span class="c-queue num" role="gridcell">${c?s`<span class="tag tone-wait">${b(c)}</span>`:s`<span class="faint">0</span>`}</span>
    <span class="c-group" role="gridcell"><code class="clip">${o.group_pattern}</code></span>`}var Ms=6e3;function er(){ne("Overview");let[e]=U(),t=Rn(e),n=Ze(Rs(t)),o=Lt("(max-width: 47.99rem)"),a=Lt("(max-width: 63.99rem)"),r=o?104:a?76:52,i=x(w=>E("/v1/definitions:summarize",{},w),["summary"],{every:15e3,keep:!0}),l=me(()=>i.data&&new Map((i.data.states??[]).map(w=>[w.state,w.count])),[i.data]),[u,p]=_(new Map),[c,h]=_(new Map),[d,m]=_([]),f=Y(new Set),g=Y([0,0]),$=Ae(()=>{let[w,O]=g.current,P=[],W=0;for(let j=w;j<O&&W<Ms;j++){let v=n.at(j)?.definition.name;v&&(P.push(v),W+=v.length+8)}m(j=>j.join(`
`)===P.join(`
`)?j:P)},150),S=(w,O)=>{g.current=[w,O],n.want(w,O),$()};T($);let y=async(w,O)=>{let P=Date.now(),{items:W}=await we("/v1/holders",{names:w},"permits",O),j=new Map(w.map(v=>[v,[]]));for(let v of W)j.get(v.semaphore)?.push({...v,deadline:v.expires_in?P+M(v.expires_in):0});p(v=>new Map([...v,...j]))},A=Ae(async()=>{let w=[...f.current];if(f.current.clear(),w.length===0)return;let[O]=await Promise.all([E("/v1/definitions",{names:w,page_size:1e3}),y(w)]).catch(()=>[]);O&&n.update(O.records??[])},40);T(()=>{if(d.length===0)return;let w=new AbortController;y(d,w.signal).catch(()=>{});let O=setInterval(()=>{document.hidden||(d.forEach(P=>f.current.add(P)),A())},5e3);return()=>{w.abort(),clearInterval(O)}},[d]);let N=()=>{d.forEach(w=>f.current.add(w)),A()};Te(d.length?"/v1/watch":null,{names:d,permits:!0,live_every:"1s"},{open:w=>w&&N(),missed:N,message({events:w=[]}){for(let O of w)O.semaphore&&f.current.add(O.semaphore);A()},live(w){let O=(w.live??w).semaphores??[],P=Date.now();h(new Map(O.map(W=>[W.semaphore,W]))),p(W=>{let j=new Map(W);for(let v of O){let re=new Map((v.deadlines??[]).map(oe=>[oe.token,P+M(oe.expires_in)])),q=j.get(v.semaphore);q&&j.set(v.semaphore,q.map(oe=>re.has(oe.token)?{...oe,deadline:re.get(oe.token)}:oe))}return j})}});let k=w=>{let O=n.at(w);O&&be(`/s/${encodeURIComponent(O.definition.name)}`)},V=n.total,ae=V===void 0?"…":`${n.more?"more than ":""}${R(n.more?V-1:V,"semaphore","semaphores")}`;return s`<${Z}>Overview<//>
    <${Ue} />
    <${Ds} counts=${l} total=${i.data?.total} />
    <${Is} summary=${i.data} shown=${ae} />
    ${n.error&&!n.error.offline&&s`<${B} error=${n.error} retry=${n.refresh} />`}
    ${V===void 0?!n.error&&s`<${ve} what="Reading the semaphores" />`:V===0?s`<${Ls} filtered=${[...e].length>0} />`:s`<${Zo}
            label="Semaphores"
            total=${V}
            height=${r}
            columns=${Cn.length}
            range=${S}
            open=${k}
            head=${Cn.map(w=>s`<span role="columnheader">${w}</span>`)}
            row=${w=>{let O=n.at(w),P=O?.definition.name;return s`<${Ns} record=${O} permits=${u.get(P)} live=${c.get(P)} />`}}
          />`}`}function Ls({filtered:e}){return e?s`<${D} title="No semaphore matches.">Remove a filter to see more.<//>`:s`<${D} title="There are no semaphores yet.">Create the first one with <code>gkctl apply -f FILE</code>, or give gatekeeperd a file by <code>--definitions</code>.<//>`}var Ps=[["move","Move"],["pause","Pause"],["resume","Resume"],["cordon","Cordon"]],tr=e=>e.split(/[\n,]/).map(t=>t.trim()).filter(Boolean);function or(){let[e,t]=U(),[n,o]=_(e.getAll("names").join(`
`)),[a,r]=_(e.get("labels")??""),[i,l]=_(e.get("all")==="1"),[u,p]=_(null),c=Rn(e),h=e.get("from_filter")==="1"&&(c.search||c.group||c.states.length>0);T(()=>{h&&we("/v1/definitions",c,"records",void 0,1e3).then(({items:m,more:f})=>{o(m.map(g=>g.definition.name).join(`
`)),r(""),t({q:"",group:"",state:"",labels:"",from_filter:""}),f&&p(new Error("More than 1,000 semaphores match. Only the first 1,000 are listed here; choose by a label or a glob instead."))},p)},[]);let d=i?{all:!0}:{...tr(n).length&&{names:tr(n)},...a.trim()&&{labels:a.trim()}};return{names:n,setNames:o,labels:a,setLabels:r,everything:i,setEverything:l,selector:d,error:u,given:i||n.trim()!==""||a.trim()!==""}}function rr({of:e,optional:t}){let n=x(e.given?r=>E("/v1/definitions",{names:e.selector.names,labels:e.selector.labels,page_size:200},r):null,["chosen",e.selector],{keep:!0}),o=n.data?.records??[],a=n.data?.total??(n.data?.next_page_token?void 0:o.length);return s`<fieldset class="panel stack">
    <legend>Which semaphores</legend>
    <div class="form">
      <${H} label="Names" area=${4} value=${e.names} onInput=${e.setNames} disabled=${e.everything} placeholder="nightly-*" help="One name or glob per line." class="full" data-search />
      <${H} label="Labels" value=${e.labels} onInput=${e.setLabels} disabled=${e.everything} placeholder="team=data,tier!=test" help="Names and labels must both match." />
      <${ie} label="Every semaphore" checked=${e.everything} onChange=${e.setEverything} />
    </div>
    ${e.error&&s`<${B} error=${e.error} />`}
    ${n.error&&!n.error.offline&&s`<${B} error=${n.error} />`}
    <p role="status" class="faint">
      ${e.given?n.data?`${a===void 0?"more than 200 semaphores":R(a,"semaphore","semaphores")} chosen${o.length?`: ${Pe(o.map(r=>r.definition.name),4).replace(/ and .*/,"")}${o.length>4?" …":""}`:""}`:"Reading …":t??"Choose some, or every one."}
    </p>
  </fieldset>`}function Dn({of:e,onAgain:t}){return s`<section class="panel stack" aria-label="What was done">
    <h2>${e.text}</h2>
    <${Yo} key=${e.change} change=${e.change} effects=${e.effects} />
    <p class="row">
      <a class="button" href=${`/activity?change=${e.change}`}>Change ${e.change}</a>
      <${z} role=${e.role} onClick=${()=>Ye(e.change)}>Undo …<//>
      <button type="button" onClick=${t}>Another one</button>
    </p>
  </section>`}function On(){let[e,t]=_(null);return[e,(o,a)=>(r,i)=>{let l=r.change??r.revision??r.cordon?.revision;l&&l!=="0"&&t({text:o,role:a,change:l,effects:r.effects?.length?r.effects:i.effects??[]})},()=>t(null)]}function sr({id:e}){let t=x(o=>we("/v1/known",{},"callers",o,5e3),["known"]),n=[...new Set((t.data?.items??[]).map(o=>o.group))].sort();return s`<datalist id=${e}>${n.map(o=>s`<option value=${o} />`)}</datalist>`}function Fs({of:e}){let t=(e.not_moved??[]).filter(o=>o.problem),n=(e.not_moved??[]).length-t.length;return s`
    <p class="lead">${e.moves?.length?`${R(e.moves.length,"semaphore moves","semaphores move")}.`:e.mistake?"":"There is nothing to move."}${n>0&&s`<span class="faint"> ${b(n)} need no move.</span>`}</p>
    ${e.mistake&&s`<p class="note">${e.mistake}</p>`}
    ${e.doubts?.length>0&&s`<div class="failure" role="alert"><p class="failure-text">This move is likely a mistake.</p><ul>${e.doubts.map(o=>s`<li>${o}</li>`)}</ul></div>`}
    ${t.length>0&&s`<div class="warnings"><p>${R(t.length,"semaphore has","semaphores have")} to be moved by hand:</p>
      <ul>${t.slice(0,20).map(o=>s`<li><a href=${`/s/${encodeURIComponent(o.semaphore)}?tab=rule`}>${o.semaphore}</a>: ${o.why}</li>`)}</ul></div>`}`}function js(){let e=or(),[t]=U(),[n,o]=_({from:t.get("from")??"",to:t.get("to")??"",drain:""}),[a,r]=_(!1),[i,l,u]=On(),p=()=>({selector:e.given?e.selector:{all:!0},from_group:n.from.trim(),to_group:n.to.trim(),...Ce(n.drain),...ue()}),c=!n.from.trim()||!n.to.trim()?"Say from which group to which.":We(()=>Ce(n.drain));return i?s`<${Dn} of=${i} onAgain=${u} />`:s`<form class="stack" onSubmit=${h=>(h.preventDefault(),c||r(!0))}>
    <fieldset class="panel">
      <legend>From where to where</legend>
      <div class="form">
        <${H} label="From group" value=${n.from} onInput=${h=>o({...n,from:h})} list="move-groups" required />
        <${H} label="To group" value=${n.to} onInput=${h=>o({...n,to:h})} list="move-groups" required />
        <${Be} value=${n} set=${o} />
        <${sr} id="move-groups" />
      </div>
    </fieldset>
    <${rr} of=${e} optional="Every semaphore that admits the old group, and not the new one. Choose fewer by names or labels." />
    <p class="row end"><${z} role="ROLE_OPERATOR" type="submit" kind="primary" why=${c}>Preview the move …<//></p>
    ${a&&s`<${de}
      title=${`Move from ${n.from} to ${n.to}`}
      verb=${h=>`Move ${R(h.moves?.length??0,"semaphore","semaphores")}`}
      role="ROLE_OPERATOR"
      preview=${async h=>C("/v1/move",{...p(),dry_run:!0},h)}
      extra=${h=>s`<${Fs} of=${h} />`}
      nothing=${h=>h.moves?.length?"":h.mistake||"There is nothing to move."}
      run=${async(h,d)=>C("/v1/move",{...p(),expected:d.digest,...h})}
      done=${h=>`${R(h.moves?.length??0,"semaphore","semaphores")} moved from ${n.from} to ${n.to}.`}
      onDone=${l(`Moved from ${n.from} to ${n.to}`,"ROLE_OPERATOR")}
      onClose=${()=>r(!1)}
    />`}
  </form>`}function nr({resume:e}){let t=or(),[n,o]=_({lasts:"",until:"",stop:!1,drain:"",keep:!0}),[a,r]=_(!1),[i,l,u]=On(),p=()=>e?{selector:t.selector}:{selector:t.selector,...He(n),...n.keep&&{keep_paused:!0},...n.stop&&{stop:!0,...Ce(n.drain)}},c=t.given?We(()=>(He(n),Ce(n.drain))):"Choose some semaphores first.";if(i)return s`<${Dn} of=${i} onAgain=${u} />`;let h=e?"resume":"pause";return s`<form class="stack" onSubmit=${d=>(d.preventDefault(),c||r(!0))}>
    <${rr} of=${t} />
    ${!e&&s`<fieldset class="panel">
      <legend>How long, and what becomes of running work</legend>
      <div class="form">
        <${Xe} value=${n} set=${o} without="Empty: until it is resumed." />
        <${ie} label="Stop holders too" checked=${n.stop} onChange=${d=>o({...n,stop:d})} help="Otherwise running work continues to its end." />
        ${n.stop&&s`<${Be} value=${n} set=${o} />`}
        <${ie} label="Leave paused ones as they are" checked=${n.keep} onChange=${d=>o({...n,keep:d})} help="Otherwise this pause replaces theirs, also when it ends." />
      </div>
    </fieldset>`}
    <p class="row end"><${z} role="ROLE_OPERATOR" type="submit" kind="primary" why=${c}>${e?"Preview …":"Preview the pause …"}<//></p>
    ${a&&s`<${de}
      title=${e?"Resume":"Pause"}
      verb=${e?"Resume":"Pause"}
      role="ROLE_OPERATOR"
      preview=${async d=>C("/v1/preview",{[h]:p()},d)}
      run=${async(d,m)=>C(`/v1/${h}`,{...p(),expected:m.digest,...d})}
      done=${d=>`${R(d.names?.length??0,"semaphore","semaphores")} ${h}d.`}
      onDone=${(d,m)=>l(`${R(d.names?.length??0,"semaphore","semaphores")} ${h}d`,"ROLE_OPERATOR")(d,m)}
      onClose=${()=>r(!1)}
    />`}
  </form>`}function qs(){let[e]=U(),[t,n]=_({group:e.get("group")??"",acquirer:e.get("acquirer")??"",lasts:"",until:"",drain:""}),[o,a]=_(!1),[r,i,l]=On(),u=()=>({...t.group.trim()&&{group_pattern:t.group.trim()},...t.acquirer.trim()&&{acquirer_pattern:t.acquirer.trim()},...He(t),...Ce(t.drain)}),p=!t.group.trim()&&!t.acquirer.trim()?"Say whom to shut out.":We(()=>u());return r?s`<${Dn} of=${r} onAgain=${l} />`:s`<form class="stack" onSubmit=${c=>(c.preventDefault(),p||a(!0))}>
    <p>A cordon shuts a group or a host out of every semaphore, for example while it is patched.</p>
    <fieldset class="panel">
      <legend>Whom, and for how long</legend>
      <div class="form">
        <${H} label="Group pattern" value=${t.group} onInput=${c=>n({...t,group:c})} list="cordon-groups" help="A caller is caught when either pattern matches." />
        <${H} label="Acquirer pattern" value=${t.acquirer} onInput=${c=>n({...t,acquirer:c})} placeholder="host-3" />
        <${Xe} value=${t} set=${n} without="Empty: until it is ended." />
        <${Be} value=${t} set=${n} />
        <${sr} id="cordon-groups" />
      </div>
    </fieldset>
    <p class="row end"><${z} role="ROLE_OPERATOR" type="submit" kind="primary" why=${p}>Preview the cordon …<//></p>
    ${o&&s`<${de}
      title="Cordon"
      verb="Cordon"
      role="ROLE_OPERATOR"
      preview=${async c=>C("/v1/preview",{cordon:u()},c)}
      run=${async c=>C("/v1/cordon",{...u(),...c})}
      done=${c=>`Cordon ${c.cordon?.id} is in force.`}
      onDone=${(c,h)=>i(`Cordon ${c.cordon?.id} is in force`,"ROLE_OPERATOR")(c,h)}
      onClose=${()=>a(!1)}
    />`}
  </form>`}function ar(){ne("Move and pause");let[e]=U(),t=e.get("do")??"move";return s`<${Z}>Move and pause<//>
    <${Ue} />
    <${nt} of=${Ps} query="do" label="What to do" />
    ${t==="pause"?s`<${nr} key="pause" />`:t==="resume"?s`<${nr} key="resume" resume />`:t==="cordon"?s`<${qs} />`:t==="move"?s`<${js} />`:s`<${D} title="There is no such form." />`}`}var ir=e=>e.all?"every semaphore":e.labels?`semaphores with ${e.labels}`:Pe(e.names??[]),lr=e=>e.names?.length===1?e.names[0]:"";function cr({selector:e,onClose:t,onDone:n}){let[o,a]=_({lasts:"",until:"",stop:!1,drain:""}),r=()=>({selector:e,...He(o),...o.stop?{stop:!0,...Ce(o.drain)}:{}});return s`<${de}
    title=${`Pause ${ir(e)}`}
    verb="Pause"
    role="ROLE_OPERATOR"
    semaphore=${lr(e)}
    deps=${o}
    preview=${async i=>C("/v1/preview",{pause:r()},i)}
    run=${async(i,l)=>C("/v1/pause",{...r(),expected:l.digest,...i})}
    done=${i=>`${R(i.names?.length??0,"semaphore","semaphores")} paused.`}
    onClose=${t}
    onDone=${n}
  >
    <p>Nobody gets a permit until the pause ends. The queue keeps its places.</p>
    <div class="form">
      <${Xe} value=${o} set=${a} without="Empty: until it is resumed." />
      <${ie} label="Stop holders too" checked=${o.stop} onChange=${i=>a({...o,stop:i})} help="Otherwise running work continues to its end." />
      ${o.stop&&s`<${Be} value=${o} set=${a} />`}
    </div>
  <//>`}function ur({selector:e,onClose:t,onDone:n}){return s`<${de}
    title=${`Resume ${ir(e)}`}
    verb="Resume"
    role="ROLE_OPERATOR"
    semaphore=${lr(e)}
    preview=${async o=>C("/v1/preview",{resume:{selector:e}},o)}
    run=${async(o,a)=>C("/v1/resume",{selector:e,expected:a.digest,...o})}
    done=${o=>o.names?.length?`${R(o.names.length,"semaphore","semaphores")} resumed.`:"Nothing was paused."}
    onClose=${t}
    onDone=${n}
  />`}function pr({name:e}){let[t,n]=U(),o={group:t.get("group")??"",acquirer:t.get("acquirer")??"",weight:t.get("weight")??"",worker:t.get("worker")??""},[a,r]=_(o),l=x(d=>E("/v1/known",{page_size:1e3},d),["known"]).data?.callers??[],u={identity:{group:o.group,acquirer:o.acquirer},...o.weight&&{weight:Number(o.weight)},...o.worker&&{worker:!0}},p=x(o.acquirer?d=>C(se`/v1/semaphores/${e}:explain`,u,d):null,["explain",e,o],{keep:!0,every:5e3}),c=d=>{d.preventDefault(),n(a),p.refresh()},h=d=>m=>r({...a,[d]:m});return s`<section class="panel">
    <h2>Would this caller get a permit?</h2>
    <form class="form" onSubmit=${c}>
      <${H} label="Group" value=${a.group} onInput=${h("group")} list="known-groups" placeholder="default" help="Where the caller runs: a zone, a site." />
      <${H} label="Acquirer" value=${a.acquirer} onInput=${h("acquirer")} list="known-acquirers" required help="Who asks, normally a host." />
      <${H} label="Weight" type="number" min="1" value=${a.weight} onInput=${h("weight")} placeholder="1" />
      <${ie} label="It is a worker" checked=${a.worker==="1"} onChange=${d=>h("worker")(d?"1":"")} help="It asks for a task." />
      <datalist id="known-groups">${[...new Set(l.map(d=>d.group))].map(d=>s`<option value=${d} />`)}</datalist>
      <datalist id="known-acquirers">${[...new Set(l.map(d=>d.acquirer))].map(d=>s`<option value=${d} />`)}</datalist>
      <p class="row full"><button class="primary">Explain</button></p>
    </form>
    ${p.error&&!p.error.offline&&s`<${B} error=${p.error} />`}
    ${o.acquirer&&!p.data&&!p.error&&s`<${ve} what="Asking" />`}
    ${p.data&&s`<${Us} of=${p.data} />`}
  </section>`}function Us({of:e}){let t=!e.reason||e.reason==="REASON_UNSPECIFIED";return s`<div class="stack" role="status">
    <p class="lead tone-${t?"run":"deny"}"><strong>${t?"It would get a permit.":`Denied: ${I(e.reason,"REASON_")}.`}</strong> ${e.summary}</p>
    ${e.recovering&&s`<p class="note">Nothing is granted for another ${Math.ceil(M(e.recovering)/1e3)} s: a recovery of the cluster is being waited out.</p>`}
    <ol class="steps">
      ${(e.steps??[]).map(n=>s`<li key=${n.number}>
        <span class="step-mark tone-${n.passed?"run":"deny"}"><span aria-hidden="true">${n.passed?"✓":"✗"}</span><span class="sr-only">${n.passed?"passed":"failed"}</span></span>
        <span class="step-name">${n.number} ${n.name}</span><span>${n.text}</span>
      </li>`)}
    </ol>
    ${e.holders?.length>0&&s`<p>Taken by ${e.holders.slice(0,5).map((n,o)=>s`${o?", ":""}${F(n.identity)} for <${le} at=${n.granted_at} />`)}${(e.holder_count??0)>5&&` and ${b(e.holder_count-5)} more`}.</p>`}
    ${e.waiter_count>0&&s`<p>${R(e.waiter_count,"caller waits","callers wait")} in the queue.</p>`}
    ${e.why_tasks_wait&&s`<p>${e.why_tasks_wait}</p>`}
  </div>`}var Hs={claimed:"accent",done:"run",spent:"stop",failed:"deny","cut short":"stop",open:"wait",forgotten:"idle"};async function Ws(e,t){let n="",o,a=[];do o=await E("/v1/firings",{semaphore:e,page_size:1e3,page_token:n},t),a.push(...o.firings??[]),n=o.next_page_token??"";while(n&&a.length<2e4);return{...o,firings:a.reverse()}}function dr({name:e,events:t}){let n=x(u=>Ws(e,u),["firings",e,t],{keep:!0}),[o,a]=_(null),[r,i]=_(100),l=o&&{semaphore:e,firings:[o.firing],...ue()};return s`<section class="panel">
    <h2>Firings</h2>
    <${K} of=${n} what="Reading the firings">
      ${u=>s`
        <p class="faint">${b(u.count)} remembered, at most ${b(u.limit)}.${u.forgotten_up_to&&` Those due until ${L(u.forgotten_up_to)} that are not listed count as forgotten.`}</p>
        <${G}
          caption="Firings"
          rows=${u.firings.slice(0,r)}
          rowKey=${p=>je(p.firing)}
          empty=${s`<${D} title="No firing is remembered.">A caller that names its firing, as gkctl run --firing does, is remembered here.<//>`}
          columns=${[["Firing",p=>je(p.firing),"name"],["State",p=>s`<span class="tag tone-${Hs[I(p.state,"FIRING_STATE_")]??"idle"}">${I(p.state,"FIRING_STATE_")}</span>`],["Who",p=>p.winner?F(p.winner):"–","name"],["Claimed at",p=>L(p.claimed_at)||"–","num"],["Attempts",p=>b(p.attempts),"num"],["Failure",p=>p.failure||"–"],["",p=>s`<${z} role="ROLE_OPERATOR" semaphore=${e} onClick=${()=>a(p)}>Forget …<//>`,"end"]]}
        />
        ${u.firings.length>r&&s`<button type="button" onClick=${()=>i(r*5)}>Show more</button>`}`}
    <//>
    ${o&&s`<${de}
      title=${`Forget ${je(o.firing)}`}
      verb="Forget it"
      kind="danger"
      role="ROLE_OPERATOR"
      semaphore=${e}
      preview=${u=>C("/v1/firings:forget",{...l,dry_run:!0},u)}
      run=${(u,p)=>C("/v1/firings:forget",{...l,plan:p.plan,...u})}
      done=${()=>`${je(o.firing)} is forgotten.`}
      onDone=${n.refresh}
      onClose=${()=>a(null)}
    ><p>A forgotten firing can run again, even if its job has run.</p><//>`}
  </section>`}function mr({name:e,events:t,onChange:n}){let[o,a]=U(),r=o.get("permits")==="1",[i,l]=_(50),u=x(p=>E("/v1/history",{names:[e],permits:r,page_size:i},p),["history",e,r,i,t],{keep:!0});return s`<section class="panel">
    <div class="title"><h2>History</h2>
      <${ie} label="Also how permits ended" checked=${r} onChange=${p=>a({permits:p?"1":""})} />
    </div>
    <${K} of=${u} what="Reading the journal">
      ${p=>s`
        ${p.entries?.length?s`<${ft} entries=${p.entries} semaphore=${e} onChange=${n} />`:s`<${D} title="The journal has nothing of it." />`}
        ${p.next_page_token&&i<1e3&&s`<p class="row"><button type="button" onClick=${()=>l(Math.min(1e3,i*4))}>Show more</button></p>`}`}
    <//>
  </section>`}var An=[["1h",36e5],["6h",6*36e5],["24h",24*36e5],["7d",168*36e5]],In=4,fr=12,Bs={released:"run",expired:"stop",abandoned:"idle",cancelled:"idle",cleared:"stop","freed unsafely":"deny",superseded:"idle"};function hr({name:e,permits:t,events:n}){let[o,a]=U(),r=An.find(([u])=>u===o.get("span"))??An[0];Oe();let i=Date.now()-r[1],l=x(u=>E("/v1/history",{names:[e],permits:!0,since:new Date(Date.now()-r[1]).toISOString(),page_size:1e3},u),["timeline",e,r[0],n],{keep:!0});return s`<section class="panel">
    <div class="title"><h2>Who held it when</h2>
      <div class="row" role="group" aria-label="Span of time">
        ${An.map(([u])=>s`<button type="button" key=${u} aria-pressed=${u===r[0]} onClick=${()=>a({span:u==="1h"?"":u})}>${u}</button>`)}
      </div>
    </div>
    <${K} of=${l} what="Reading the journal">
      ${u=>s`<${Ks} entries=${u.entries??[]} permits=${t} from=${i} to=${Date.now()} more=${u.next_page_token} />`}
    <//>
  </section>`}function Ks({entries:e,permits:t,from:n,to:o,more:a}){let r=[...t.map(c=>({who:F(c.identity),from:Date.parse(c.granted_at),to:o,how:"holds it now",tone:c.stop?"stop":"accent",token:c.token})),...e.filter(c=>c.permit&&c.kind!=="EVENT_KIND_GRANTED"&&c.permit.granted_at).map(c=>{let h=I(c.permit.ended,"PERMIT_END_")||I(c.kind,"EVENT_KIND_");return{who:F(c.permit.identity),from:Date.parse(c.permit.granted_at),to:Date.parse(c.permit.ended_at??c.at),how:h,tone:Bs[h]??"idle",token:c.permit.token}})],i=new Set,l=new Map;for(let c of r)i.has(c.token)||c.to<n||(i.add(c.token),l.set(c.who,[...l.get(c.who)??[],c]));if(l.size===0)return s`<${D} title="Nobody held it in this time." />`;let u=c=>1e3*(Math.max(c,n)-n)/(o-n),p=e.filter(c=>!c.permit&&Date.parse(c.at)>=n);return s`<div class="timeline">
    ${[...l].slice(0,fr).map(([c,h])=>{let d=h[0],m=`${c}: ${R(h.length,"permit","permits")}, the last from ${L(d.from)}, ${d.how}`;return s`<div class="lane" key=${c}>
        <span class="lane-name">${c}</span>
        <svg viewBox="0 0 1000 18" preserveAspectRatio="none" role="img" aria-label=${m}>
          <rect class="track" width="1000" height="18" />
          ${h.map(f=>s`<rect key=${f.token} class="fill-${f.tone}" x=${u(f.from)} y="2" height="14" width=${Math.max(1.5,u(f.to)-u(f.from))}>
            <title>${`${f.who}: ${L(f.from)}, ${f.how} after ${X(f.to-f.from)}, token ${f.token}`}</title>
          </rect>`)}
          ${p.map(f=>s`<line key=${f.revision} class="mark" x1=${u(Date.parse(f.at))} x2=${u(Date.parse(f.at))} y1="0" y2="18"><title>${`${I(f.kind,"EVENT_KIND_")} by ${f.author??"–"} at ${L(f.at)}`}</title></line>`)}
        </svg>
      </div>`})}
    <div class="lane axis" aria-hidden="true">
      <span class="lane-name"></span>
      <span class="ticks num">${Array.from({length:In+1},(c,h)=>s`<span key=${h}>${h===In?"now":Mt(n+(o-n)*h/In).slice(0,-3)}</span>`)}</span>
    </div>
    ${(l.size>fr||a)&&s`<p class="faint">Not everything fits here. <a href="?tab=history&permits=1">The history has all of it.</a></p>`}
  </div>`}function zs({permit:e,onClose:t,onDone:n}){let[o,a]=_({reason:"",drain:"",unsafe:!1}),[r,i]=_(null),[l,u]=_(!1);return s`<${he} title="Revoke a permit" onClose=${t}>
    <form onSubmit=${async c=>{if(c.preventDefault(),!l){u(!0);try{let h={reason:o.reason,...ue()};o.drain.trim()&&(h.drain=xe(o.drain)),o.unsafe&&(h.unsafe_now=!0),await C(se`/v1/permits/${e.token}:revoke`,h),fe(`The permit of ${F(e.identity)} is revoked.`),n(),t()}catch(h){i(h),u(!1)}}}}>
      <p>${F(e.identity)} must stop. Its refreshes are refused from now on, and its slot is free when it releases, or at its deadline.</p>
      <${H} label="Reason" value=${o.reason} onInput=${c=>a({...o,reason:c})} maxlength="1024" />
      <${H} label="Drain" placeholder="2m" value=${o.drain} onInput=${c=>a({...o,drain:c})} error=${We(()=>xe(o.drain))} help="How long it may continue. Empty: not at all." />
      <${ie} label="Free the slot at once" checked=${o.unsafe} onChange=${c=>a({...o,unsafe:c})}
        help="Unsafe: the holder may still run, and then two run at the same time. Only a fencing token protects what they write." />
      <${B} error=${r} />
      <p class="row end">
        <button type="button" onClick=${t}>Cancel</button>
        <button class=${o.unsafe?"danger":"primary"}>${l?"Working …":o.unsafe?"Revoke and free the slot":"Revoke"}</button>
      </p>
    </form>
  <//>`}function Vs({permit:e,onClose:t,onDone:n}){let[o,a]=_(""),[r,i]=_(null);return s`<${he} title="Clear a slot" onClose=${t}>
    <form onSubmit=${u=>{u.preventDefault(),C(se`/v1/permits/${e.token}:clear`,{reason:o,...ue()}).then(()=>{fe("The slot is free."),n(),t()},i)}}>
      <p>The permit of ${F(e.identity)} expired, and its slot is held. Clear it when you know that its job does not run any more.</p>
      <${H} label="Reason" value=${o} onInput=${a} maxlength="1024" />
      <${B} error=${r} />
      <p class="row end"><button type="button" onClick=${t}>Cancel</button><button class="primary">Clear the slot</button></p>
    </form>
  <//>`}var Js=e=>Object.entries(e??{}).map(([t,n])=>`${t}=${n}`).join(", ");function Gs({permits:e,onChange:t}){let[n,o]=_(null),a=()=>o(null);return s`<section class="panel">
    <h2>Holders</h2>
    <${G}
      caption="Holders"
      rows=${e}
      rowKey=${r=>r.token}
      empty=${s`<${D} title="Nobody holds a permit." />`}
      columns=${[["Holder",r=>s`${F(r.identity)}${r.identity?.holder_id&&s`<div class="sub">${r.identity.holder_id}</div>`}`,"name"],["State",r=>s`<span class="tone-${Do(r)}">${Ro(r)}</span>`],["Since",r=>s`<${le} at=${r.granted_at} />`,"num"],["Time left",r=>s`<${jt} at=${r.deadline} of=${M(r.duration)} />`,"num"],["Weight",r=>b(r.weight),"num"],["Token",r=>r.token,"num"],["For",r=>[je(r.firing),Js(r.metadata)].filter(Boolean).join("; ")||"–"],["",r=>r.state==="PERMIT_STATE_HELD"?s`<${z} role="ROLE_OPERATOR" semaphore=${r.semaphore} onClick=${()=>o({clear:r})}>Clear …<//>`:r.state==="PERMIT_STATE_COOLING"?null:s`<${z} role="ROLE_OPERATOR" semaphore=${r.semaphore} group=${r.identity?.group} acquirer=${r.identity?.acquirer} onClick=${()=>o({revoke:r})}>Revoke …<//>`,"end"]]}
    />
    ${n?.revoke&&s`<${zs} permit=${n.revoke} onClose=${a} onDone=${t} />`}
    ${n?.clear&&s`<${Vs} permit=${n.clear} onClose=${a} onDone=${t} />`}
  </section>`}function Qs({data:e}){let t=n=>new Date(e.at-M(n.waiting)).toISOString();return s`<section class="panel">
    <h2>Queue</h2>
    <${G}
      caption="Waiters"
      rows=${e.waiters}
      rowKey=${n=>`${n.request_id}/${n.place}`}
      empty=${s`<${D} title="Nobody waits." />`}
      columns=${[["Place",n=>n.place||"idle worker","num"],["Waiter",n=>F(n.identity),"name"],["Weight",n=>b(n.weight),"num"],["Waiting for",n=>s`<${le} at=${t(n)} />`,"num"]]}
      note=${e.next_page_token&&"More wait than are shown here."}
    />
    ${(e.tasks??[]).map(n=>s`<p key=${n.job}><a href=${`/jobs/${encodeURIComponent(n.job)}`}>${n.job}</a>: ${b(n.tasks)} tasks wait for a worker.</p>`)}
  </section>`}var Ys=e=>`?${new URLSearchParams({tab:"explain",group:e.identity?.group??"",acquirer:e.identity?.acquirer??""})}`;function Xs({rows:e,caption:t}){return s`<${G}
    caption=${t}
    rows=${e}
    rowKey=${n=>`${n.semaphore} ${F(n.identity)}`}
    columns=${[["Caller",n=>F(n.identity),"name"],["Why",n=>s`${n.message}<div class="sub">${I(n.reason,"REASON_")}${n.let_in&&`; ${F(n.let_in)} was let in, so it may be a standby`}${n.cured&&"; would not be denied now"}</div>`],["Times",n=>b(n.count),"num"],["Last",n=>s`<span title=${L(n.last)}><${le} at=${n.last} /> ago</span>`,"num"],["",n=>s`<a href=${n.semaphore?Ys(n):void 0}>Explain</a>`,"end"]]}
  />`}function Zs({name:e,events:t}){let n=x(o=>E("/v1/denied",{names:[e],cured:!0},o),["denied",e,t],{every:1e4,keep:!0});return s`<section class="panel">
    <h2>Denied</h2>
    <${K} of=${n} what="Reading who was denied">
      ${o=>s`
        ${o.callers?.length?s`<${Xs} rows=${o.callers} caption="Callers that were denied" />`:s`<${D} title="Nobody is denied.">Callers show here when waiting does not help them${o.since?`; remembered since ${L(o.since)}`:""}.<//>`}
        ${o.misspelled?.length>0&&s`<h3>They may mean this semaphore</h3>
          <ul>${o.misspelled.map(a=>s`<li>${F(a.identity)} asks for <code>${a.semaphore}</code>, which does not exist.</li>`)}</ul>`}`}
    <//>
  </section>`}function $r({name:e,of:t}){return s`<div class="stack">
    <${K} of=${t.holders} what="Reading who holds it">${n=>s`<${Gs} permits=${n} onChange=${t.read} />`}<//>
    <${hr} name=${e} permits=${t.holders.data??[]} events=${t.events} />
    <div class="panels">
      <${K} of=${t.waiters} what="Reading the queue">${n=>s`<${Qs} data=${n} />`}<//>
      <${Zs} name=${e} events=${t.events} />
    </div>
  </div>`}function Bt(e={}){let t={};for(let n of pe){let o=e[n.name];switch(n.kind){case"labels":t[n.name]=Object.keys(o??{}).sort().map(a=>o[a]===""?a:`${a}=${o[a]}`).join(`
`);break;case"duration":t[n.name]=Qe(o);break;case"flag":t[n.name]=o?"yes":"no";break;case"choice":t[n.name]=Fe(n,e);break;default:t[n.name]=String(o??(n.kind==="number"&&n.name==="max_attempts"?0:""))}}return t}function _r(e,t={}){let n={...t},o={};for(let a of pe){let r=e[a.name]??"";try{let i=ea(a,r);i===void 0?delete n[a.name]:n[a.name]=i}catch(i){o[a.name]=i.message}}return{definition:n,errors:o}}function ea(e,t){switch(e.kind){case"labels":{let n={};for(let o of t.split(`
`).map(a=>a.trim()).filter(Boolean)){let a=o.indexOf("="),r=(a<0?o:o.slice(0,a)).trim();if(!r)throw new Error(`“${o}” has no key. Write key=value.`);if(Object.hasOwn(n,r))throw new Error(`The key ${r} stands here twice.`);Object.defineProperty(n,r,{value:a<0?"":o.slice(a+1).trim(),enumerable:!0})}return n}case"duration":return xe(t);case"number":{if(t.trim()==="")return;if(!/^\d+$/.test(t.trim()))throw new Error(`“${t}” is not a whole number.`);return Number(t)}case"flag":return t==="yes";case"choice":return e.prefix+t.toUpperCase();case"pattern":if(t==="")throw new Error("An empty pattern would let nobody in. .* lets everybody in.");return t}return t}function gr(e,t,n){let o={},a=[],r=[];for(let i of pe){let[l,u,p]=[e[i.name],t[i.name],n[i.name]];o[i.name]=u===l?p:u,u!==l&&p!==l&&u!==p&&(a.push(i.name),o[i.name]=p),(u!==l||p!==l)&&r.push({field:i,base:l,mine:u,theirs:p})}return{merged:o,conflicts:a,rows:r}}function vr({of:e,base:t,onMerged:n,onCancel:o}){let{theirs:a,conflicts:r,rows:i}=e,[l,u]=_({}),p=r.filter(d=>!l[d]),c=()=>{let d={...e.merged};for(let m of i)l[m.field.name]&&(d[m.field.name]=m[l[m.field.name]]);n(d)},h=d=>{let m=d.field.name;if(!r.includes(m))return d.mine===d.theirs?s`<${Ut}>the same<//>`:d.mine!==d.base?s`<${Ut} tone="accent">yours<//>`:s`<${Ut} tone="wait">theirs<//>`;let f=(g,$)=>s`<label class="radio">
      <input type="radio" name=${`keep-${m}`} checked=${l[m]===g} onChange=${()=>u({...l,[m]:g})} /> ${$}
    </label>`;return s`<fieldset class="radios"><legend class="sr-only">Which ${d.field.label} to keep</legend>${f("mine","yours")}${f("theirs","theirs")}</fieldset>`};return s`<section class="panel conflict" aria-label="Conflict">
    <h2>Somebody else was faster</h2>
    <p role="alert">${a.updated_by||"Somebody"} saved version ${a.version} at ${L(a.updated_at)}${a.reason&&` (${a.reason})`}. You began
      with version ${t?.version??"–"}. Nothing of yours is saved yet, and nothing is lost.</p>
    <${G}
      caption="Fields that differ"
      rows=${i}
      rowKey=${d=>d.field.name}
      columns=${[["Field",d=>d.field.label],["When you began",d=>s`<code>${d.base||"(none)"}</code>`],["Yours",d=>d.mine===d.base?s`<span class="faint">unchanged</span>`:s`<ins>${d.mine||"(none)"}</ins>`],["Theirs",d=>d.theirs===d.base?s`<span class="faint">unchanged</span>`:s`<ins class="theirs">${d.theirs||"(none)"}</ins>`],["Keep",h]]}
    />
    <p class="row end">
      <span class="grow" role="status">${p.length?`Choose for ${p.length===1?"1 field":`${p.length} fields`} that you both changed.`:"Everything is decided."}</span>
      <button type="button" onClick=${o}>Back to the form</button>
      <button type="button" class="primary" aria-disabled=${p.length?"true":void 0} onClick=${()=>p.length||c()}>Review the result …</button>
    </p>
  </section>`}var Nn=60;function br({name:e,group:t,acquirer:n}){let[o,a]=_({group:t,acquirer:n});T(()=>{let m=setTimeout(()=>a({group:t,acquirer:n}),250);return()=>clearTimeout(m)},[t,n]);let r=x(m=>we("/v1/known",{},"callers",m,1e3),["known"]),i=x(o.group&&o.acquirer?async m=>{let f={name:`${e.slice(0,60)}~pattern-test`,group_pattern:o.group,acquirer_pattern:o.acquirer};return(await C("/v1/preview",{edits:{edits:[{create:f}]}},m)).effects?.[0]??{}}:null,["patterns",o],{keep:!0}),l=r.data?.items??[],u=i.data?.eligible??i.data?.total_admitted??0,p=new Set((i.data?.admitted??[]).map(m=>`${m.acquirer} in ${m.group}`)),c=i.error&&!i.error.offline?i.error.fields?.[0]?.rule??i.error.message:"",h=p.size>=u,d=[...l].sort((m,f)=>p.has(`${f.acquirer} in ${f.group}`)-p.has(`${m.acquirer} in ${m.group}`));return s`<div class="pattern-test full" aria-live="polite">
    ${c?s`<p class="error">${c}</p>`:l.length===0?s`<p class="faint">Nobody was seen asking yet, so the patterns cannot be tried on anybody.</p>`:s`<p><strong class=${u?"tone-run":"tone-deny"}>These patterns let in ${u?b(u):"none"} of ${R(l.length,"known caller","known callers")}${r.data?.more?" and more":""}.</strong></p>
            <ul class="chips">${d.slice(0,Nn).map(m=>{let f=`${m.acquirer} in ${m.group}`,g=p.has(f);return!g&&!h?null:s`<li key=${f} class=${g?"in":"out"}><span aria-hidden="true">${g?"✓":"✗"}</span><span class="sr-only">${g?"let in: ":"not let in: "}</span>${f}</li>`})}${l.length>Nn&&s`<li class="out">and ${b(l.length-Nn)} more</li>`}</ul>`}
  </div>`}var yr={group_pattern:".*",acquirer_pattern:".*",permits:1,duration:"60s"};function wr({name:e,record:t,onSaved:n}){let[o,a]=U();if(o.get("edit")==="1"||!t)return s`<${ta} name=${e} record=${t} onSaved=${n} onDone=${()=>a({edit:""})} />`;let i=t.definition;return s`<section class="panel">
    <div class="title"><h2>Rule</h2>
      <${z} role="ROLE_EDITOR" semaphore=${e} kind="primary" onClick=${()=>a({edit:"1"},{replace:!1})}>Edit<//>
    </div>
    <${Se} of=${pe.map(l=>[l.label,Fe(l,i)&&(l.kind==="pattern"?s`<code>${Fe(l,i)}</code>`:Fe(l,i))])} />
    <p class="faint">Version ${t.version}, ${L(t.updated_at)}${t.updated_by&&`, by ${t.updated_by}`}${t.reason&&`: ${t.reason}`}</p>
  </section>`}var Kt=["firing_on_loss","firing_retention","firing_limit","firing_max_ahead","max_attempts","misfire","misfire_window"];function ta({name:e,record:t,onSaved:n,onDone:o}){let[a,r]=_(t),[i,l]=_(()=>Bt(t?.definition??yr)),[u,p]=_({}),[c,h]=_(!1),[d,m]=_(null),[f,g]=_({}),$=me(()=>Bt(a?.definition??yr),[a]),{definition:S,errors:y}=_r(i,a?.definition??{name:e}),A=!a||pe.some(v=>i[v.name]!==$[v.name]),N=Object.keys(y).length>0,k=t&&a&&t.version!==a.version?t:null;T(()=>{if(!A||!a)return;let v=re=>re.preventDefault();return addEventListener("beforeunload",v),()=>removeEventListener("beforeunload",v)},[A]);let V=v=>re=>{l(q=>({...q,[v]:re})),g(q=>({...q,[v]:void 0}))},ae=a?{replace:S,expected_version:a.version}:{create:{...S,name:e}},w=()=>({edits:[ae],...Ce(u.drain),...a?He(u):{}}),O=v=>m({theirs:v,...gr($,i,Bt(v.definition))}),P=v=>{if(v.reason==="STALE_VERSION")return E(se`/v1/definitions/${e}`).then(q=>O(q.record),q=>fe(q.message,{tone:"deny"})),!0;let re=v.fields?.filter(q=>pe.some(oe=>q.field.endsWith(oe.name)))??[];return re.length===0?!1:(g(Object.fromEntries(re.map(q=>[pe.find(oe=>q.field.endsWith(oe.name)).name,q.rule]))),!0)},W=v=>{let re=y[v.name]??f[v.name],q=i[v.name],oe={key:v.name,label:v.label,help:v.help,error:re,class:q!==$[v.name]?"changed":""};if(v.kind==="flag")return s`<${ie} ...${oe} checked=${q==="yes"} onChange=${$t=>V(v.name)($t?"yes":"no")} />`;if(v.kind==="choice")return s`<${ke} ...${oe} value=${q} onChange=${V(v.name)} options=${v.values.map($t=>[$t.toLowerCase(),$t.toLowerCase()])} />`;let zt=v.kind==="labels"?3:v.name==="description"?2:void 0;return s`<${H} ...${oe} value=${q} onInput=${V(v.name)} area=${zt} name=${v.name} inputmode=${v.kind==="number"?"numeric":void 0} />`},j=v=>{v.preventDefault(),!N&&A&&h(!0)};return d?s`<${vr}
      of=${d}
      base=${a}
      onCancel=${()=>m(null)}
      onMerged=${v=>{r(d.theirs),l(v),m(null),h(!0)}}
    />`:s`<section class="panel">
    <div class="title"><h2>${a?"Edit the rule":"Create this semaphore"}</h2></div>
    ${k&&s`<p class="note" role="alert">${k.updated_by||"Somebody"} saved another version at ${L(k.updated_at)}, while you edit.
      <button type="button" onClick=${()=>O(k)}>Compare and merge</button></p>`}
    <form onSubmit=${j}>
      <div class="form">
        ${pe.filter(v=>!Kt.includes(v.name)&&v.kind!=="pattern"&&["description","labels"].includes(v.name)).map(W)}
        ${pe.filter(v=>v.kind==="pattern").map(W)}
        <${br} name=${e} group=${i.group_pattern} acquirer=${i.acquirer_pattern} />
        ${pe.filter(v=>!Kt.includes(v.name)&&v.kind!=="pattern"&&!["description","labels"].includes(v.name)).map(W)}
      </div>
      <details open=${Kt.some(v=>i[v]!==$[v]||y[v])}>
        <summary>Firings</summary>
        <div class="form">${pe.filter(v=>Kt.includes(v.name)).map(W)}</div>
      </details>
      <p class="row end sticky-end">
        ${A&&s`<span class="grow faint">Nothing is saved yet.</span>`}
        ${a&&s`<button type="button" onClick=${o}>${A?"Discard":"Back"}</button>`}
        <${z} role="ROLE_EDITOR" semaphore=${e} type="submit" kind="primary" why=${N?"A field has a mistake.":A?"":"Nothing was changed."}>Review and save …<//>
      </p>
    </form>
    ${c&&s`<${de}
      title=${a?`Save ${e}`:`Create ${e}`}
      verb=${a?"Save":"Create"}
      role="ROLE_EDITOR"
      semaphore=${e}
      deps=${u}
      preview=${async v=>C("/v1/preview",{edits:w()},v)}
      run=${async v=>C("/v1/definitions:edit",{...w(),...v})}
      done=${v=>`${e} is ${a?"saved":"created"}, as change ${v.revision}.`}
      onError=${P}
      onClose=${()=>h(!1)}
      onDone=${()=>{n(),o()}}
    >
      ${a&&s`<details><summary>Only for a time, or with a drain</summary>
        <div class="form"><${Xe} value=${u} set=${p} without="Then the old values come back. Empty: for good." /><${Be} value=${u} set=${p} /></div>
      </details>`}
    <//>`}
  </section>`}function kr({name:e,events:t}){let n=x(a=>E("/v1/jobs",{semaphore:e,page_size:200},a),["jobs",e,t],{every:5e3,keep:!0}),o=x(a=>E("/v1/workers",{semaphore:e},a),["workers",e,t],{every:5e3,keep:!0});return s`<div class="stack">
    <section class="panel"><h2>Jobs</h2>
      <${K} of=${n} what="Reading the jobs">
        ${a=>a.jobs?.length?s`<${xn} jobs=${a.jobs} />`:s`<${D} title="It has no jobs.">Submit one with gkctl job submit.<//>`}
      <//>
    </section>
    <section class="panel"><h2>Workers</h2>
      <${K} of=${o} what="Reading the workers">${a=>s`<${Tn} data=${a} />`}<//>
    </section>
  </div>`}var na=[["now","Now"],["rule","Rule"],["history","History"],["firings","Firings"],["tasks","Tasks"],["explain","Explain"]],oa=(e,t)=>e.map(n=>({...n,deadline:n.expires_in?t+M(n.expires_in):0}));function ra(e){let t=x(p=>E(se`/v1/definitions/${e}`,{},p),["record",e],{every:15e3}),n=x(async p=>{let c=Date.now();return oa((await we("/v1/holders",{names:[e]},"permits",p)).items,c)},["holders",e],{every:15e3}),o=x(async p=>({at:Date.now(),...await E("/v1/waiters",{names:[e],page_size:200},p)}),["waiters",e],{every:5e3}),[a,r]=_(null),[i,l]=_(0),u=Ae(()=>{t.refresh(),n.refresh(),o.refresh(),l(p=>p+1)},40);return Te("/v1/watch",{names:[e],permits:!0,live_every:"1s"},{open:p=>p&&u(),missed:u,message:({events:p=[]})=>p.length&&u(),live(p){let c=((p.live??p).semaphores??[]).find(m=>m.semaphore===e),h=Date.now(),d=new Map((c?.deadlines??[]).map(m=>[m.token,h+M(m.expires_in)]));n.set(m=>m?.map(f=>d.has(f.token)?{...f,deadline:d.get(f.token)}:f)),a&&(c?.waiters??0)!==a.waiters&&o.refresh(),r({waiters:c?.waiters??0})}}),{record:t,holders:n,waiters:o,live:a,events:i,read:u}}function sa({record:e,onChange:t}){let[n,o]=_(""),a=e.definition.name,r=()=>o("");return s`
    ${e.pause?s`<${z} role="ROLE_OPERATOR" semaphore=${a} onClick=${()=>o("resume")}>Resume …<//>`:s`<${z} role="ROLE_OPERATOR" semaphore=${a} onClick=${()=>o("pause")}>Pause …<//>`}
    <a class="button" href=${`/move?names=${encodeURIComponent(a)}`}>Move …</a>
    <${z} role="ROLE_EDITOR" semaphore=${a} kind="danger" onClick=${()=>o("delete")}>Delete …<//>
    ${n==="pause"&&s`<${cr} selector=${{names:[a]}} onClose=${r} onDone=${t} />`}
    ${n==="resume"&&s`<${ur} selector=${{names:[a]}} onClose=${r} onDone=${t} />`}
    ${n==="delete"&&s`<${de}
      title=${`Delete ${a}`}
      verb="Delete it"
      kind="danger"
      role="ROLE_EDITOR"
      semaphore=${a}
      preview=${i=>C("/v1/preview",{edits:{edits:[{delete:a,expected_version:e.version}]}},i)}
      run=${i=>C("/v1/definitions:edit",{edits:[{delete:a,expected_version:e.version}],...i})}
      done=${()=>`${a} is deleted.`}
      onDone=${()=>be("/")}
      onClose=${r}
    />`}`}function aa({record:e,holders:t,live:n}){let o=Number(e.used??0),a=e.definition.permits??0;return s`<dl class="figures">
    <div><dt>In use</dt><dd class="num">${b(o)}<span class="faint"> / ${b(a)}</span></dd>
      <dd><${$e} share=${a?o/a:o?1:0} label="${o} of ${a} permits in use" /></dd></div>
    <div><dt>Holders</dt><dd class="num">${b(t?.length??e.holders)}</dd></div>
    <div><dt>Queue</dt><dd class="num">${b(n?.waiters??e.waiters)}</dd></div>
  </dl>`}function Er({name:e}){ne(e);let t=ra(e),[n]=U(),o=n.get("tab")??"now",a=t.record.data?.record,r=t.record.error?.code==="NOT_FOUND",i=r&&!a;return s`
    <${Z} aside=${a&&s`<${sa} record=${a} onChange=${t.read} />`}>${e}<//>
    <${Ue} />
    ${r&&s`<p class="note">There is no definition of this name${a?" any more":""}. Its history and firings may still be known.</p>`}
    ${a&&!r&&s`<div class="standing">
      <p class="row">${mt(a).map(l=>s`<${ht} key=${l.value} value=${l.value} />`)}</p>
      ${Ft(a).map(l=>s`<p class="note">${l}</p>`)}
      <${aa} record=${a} holders=${t.holders.data} live=${t.live} />
    </div>`}
    ${t.record.error&&!r&&!t.record.error.offline&&s`<${B} error=${t.record.error} retry=${t.record.refresh} />`}
    <${nt} of=${na} label="Parts of this semaphore" />
    ${!a&&!r?!t.record.error&&s`<${ve} what="Reading the semaphore" />`:o==="rule"?s`<${wr} key=${e} name=${e} record=${r?null:a} onSaved=${t.read} />`:o==="history"?s`<${mr} name=${e} events=${t.events} onChange=${t.read} />`:o==="firings"?s`<${dr} name=${e} events=${t.events} />`:o==="explain"?s`<${pr} name=${e} />`:i?s`<${D} title="Nothing to show.">Create it under <a href="?tab=rule">Rule</a>, or look at its <a href="?tab=history">history</a>.<//>`:o==="tasks"?s`<${kr} name=${e} events=${t.events} />`:s`<${$r} name=${e} of=${t} />`}`}var ia=[[/^\/$/,er],[/^\/s\/(.+)$/,Er],[/^\/move$/,ar],[/^\/activity$/,Uo],[/^\/jobs$/,Vo],[/^\/jobs\/(.+)$/,Go],[/^\/cluster$/,Ko],[/^\/access$/,qo]];function la(){return ne("No such page"),s`<${Z}>No such page<//><${D} title="There is nothing at this address."><a href="/">Go to the overview</a><//>`}function ca(){let e=Q(Je).split("?")[0],t=Q(Me);if(T(()=>{e!=="/login"&&!Ee.get()&&ln().catch(()=>{})},[e==="/login",t]),e==="/login")return s`<${vn} bare><${Qo} /><//>`;let[n,o]=uo(e,ia)??[la,[]];return s`<${vn}><${n} key=${e} name=${o[0]} /><//>`}Vn(s`<${ca} />`,document.getElementById("app"));
//# sourceMappingURL=app.js.map
